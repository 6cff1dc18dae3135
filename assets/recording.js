/* Recordings as files: reading, checking, packing. Nothing here draws. */
(function (root) {
  "use strict";
  const S = (root.Slipstream = root.Slipstream || {});
  const READABLE = [1, 2, 3];
  const LARGEST = 64 * 1024 * 1024; // bytes; more than any run of this program
  const KINDS = new Set(["run", "prefill", "phase", "step", "draft", "verify", "finish", "compare", "check"]);

  /** A refusal: the key of a sentence, and what goes into it. */
  const refused = (problem, values) => ({ events: null, problem, values: values || {} });

  /** The events of a recording's text, `{ events }`, or `{ problem, values }` that says what is wrong. Pure. */
  function parse(text) {
    const lines = text.split("\n"), events = [];
    const whole = text.endsWith("\n");
    for (let i = 0; i < lines.length; i += 1) {
      if (!lines[i].trim()) continue;
      let event = null;
      try {
        event = JSON.parse(lines[i]);
      } catch (error) {
        return events.length ? refused(i === lines.length - 1 && !whole ? "file.cut" : "file.damaged", { n: i + 1 }) : refused("file.other");
      }
      const problem = events.length ? wrong(event, events[0], i + 1) : first(event);
      if (problem) return problem;
      events.push(event);
    }
    if (!events.length) return refused("file.empty");
    const ended = new Set(events.filter((event) => event.kind === "finish").map((event) => event.lane));
    return events[0].lanes.every((lane) => ended.has(lane.key)) ? { events } : refused("file.cut");
  }

  /** What is wrong with the first line, or null. */
  function first(run) {
    if (!run || typeof run !== "object" || run.kind !== "run") return refused("file.other");
    if (!READABLE.includes(run.schema)) return refused("file.schema", { schema: String(run.schema).slice(0, 20), least: READABLE[0], most: READABLE.at(-1) });
    const lanes = Array.isArray(run.lanes) && run.lanes.length > 0 && run.lanes.every((lane) => lane && typeof lane.key === "string");
    return lanes && typeof run.prompt === "string" ? null : refused("file.damaged", { n: 1 });
  }

  /** What is wrong with another line, or null. */
  function wrong(event, run, n) {
    const bad = refused("file.damaged", { n });
    if (!event || typeof event !== "object" || !KINDS.has(event.kind) || event.kind === "run") return bad;
    if (!run.lanes.some((lane) => lane.key === event.lane)) return bad;
    if (event.kind === "finish") return event.totals && typeof event.totals === "object" ? null : bad;
    if (event.kind === "phase") return ["reasoning", "answer"].includes(event.phase) && Number.isInteger(event.at) ? null : bad;
    if (event.kind !== "step" && event.kind !== "draft") return null;
    const lists = [event.tokens, event.pieces, event.sources];
    const level = lists.every((list) => Array.isArray(list) && list.length === event.tokens.length);
    const timed = [event.start, event.seconds].every(Number.isFinite);
    return level && timed && grown(event.tree) ? null : bad;
  }

  /** Whether a draft tree can be drawn: one entry a node, parents before children, a path from the root. */
  function grown(tree) {
    if (tree === null || tree === undefined) return true;
    const size = Array.isArray(tree.parents) ? tree.parents.length : 0;
    const level = ["tokens", "pieces", "sources", "ranks", "counts"].every((name) => Array.isArray(tree[name]) && tree[name].length === size);
    const rooted = size > 0 && tree.parents.every((parent, i) => (i ? Number.isInteger(parent) && parent >= 0 && parent < i : parent === -1));
    return level && rooted && Array.isArray(tree.path) && tree.path[0] === 0 && tree.path.every((node, i) => i === 0 || tree.parents[node] === tree.path[i - 1]);
  }

  /** A file as a recording, unpacked where it is packed. Never rejects. */
  async function read(file) {
    if (file.size > LARGEST) return refused("file.large");
    try {
      const head = new Uint8Array(await file.slice(0, 2).arrayBuffer());
      const packed = head[0] === 0x1f && head[1] === 0x8b;
      const stream = packed ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file.stream();
      return parse(await textOf(stream));
    } catch (error) {
      // The one thing that fails here is unpacking a file that is cut off or no gzip at all.
      return refused(error instanceof RangeError ? "file.large" : "file.cut");
    }
  }

  /** The text of a stream; a small file may unpack to an endless one. */
  async function textOf(stream) {
    const reader = stream.getReader(), decoder = new TextDecoder();
    let text = "", size = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      size += value.length;
      if (size > LARGEST) {
        await reader.cancel();
        throw new RangeError("too large");
      }
      text += decoder.decode(value, { stream: true });
    }
  }

  /** Events as the text of a recording: one line each. Pure. */
  const format = (events) => events.map((event) => JSON.stringify(event) + "\n").join("");

  /** Events as a packed recording. */
  async function pack(events) {
    const stream = new Blob([format(events)]).stream().pipeThrough(new CompressionStream("gzip"));
    return new Blob([await new Response(stream).arrayBuffer()], { type: "application/gzip" });
  }

  S.recording = { READABLE, parse, read, format, pack };
})(typeof globalThis !== "undefined" ? globalThis : this);

/* Recordings as files: reading, checking, packing. Nothing here draws. */
(function (root) {
  "use strict";
  const S = (root.Slipstream = root.Slipstream || {});
  const READABLE = [1, 2, 3];
  const LARGEST = 64 * 1024 * 1024; // bytes; more than any run of this program
  const MOST_LANES = 32, MOST_NODES = 1024; // the same: a file is not to draw without end
  const SOURCES = new Set(["target", "retrieval", "logits", "both", "prefix", "suffix"]);
  const ROUNDING = 1e-6; // lane times are sums of the same numbers in another order

  const words = (value) => typeof value === "string";
  const number = (value) => Number.isFinite(value);
  const count = (value) => Number.isInteger(value) && value >= 0;
  const truth = (value) => typeof value === "boolean";
  const object = (value) => Boolean(value) && typeof value === "object" && !Array.isArray(value);
  const listOf = (is) => (value) => Array.isArray(value) && value.every(is);
  const source = (value) => SOURCES.has(value);
  /** Absent in an older schema, or null. */
  const maybe = (is) => (value) => value === undefined || value === null || is(value);

  /** What the player takes on trust once a recording is open: the fields of each kind of event. */
  const FIELDS = {
    prefill: { prompt_tokens: count, done: count, seconds: number },
    phase: { phase: (value) => value === "reasoning" || value === "answer", at: count, by: words, cut: maybe(count) },
    step: {
      index: count, phase: words, start: number, seconds: number, draft: number, forward: number, other: number, tokens: listOf(count),
      pieces: listOf(words), sources: listOf(source), drafted: count, accepted: count, branch: maybe(count), memory: maybe(listOf(count)),
    },
    draft: {
      id: count, opened_at: count, step: count, start: number, seconds: number, tokens: listOf(count), pieces: listOf(words),
      sources: listOf(source), written: count, length: count, closed: words,
    },
    verify: { draft: count, length: count, accepted: count, start: number, seconds: number, piece: words, answer_piece: words },
    finish: { reason: words, totals: object, message: maybe(words), note: maybe(words) },
    compare: { identical: truth, checked: count, complete: truth, first: maybe(count), piece: words, vanilla_piece: words, gap: maybe(number), tolerance: maybe(number), tie: maybe(truth) },
    check: { task: words, right: truth, reason: words },
  };
  const KINDS = new Set(Object.keys(FIELDS)); // behind the run, which is the first line and no other
  const TREE = { tokens: listOf(count), pieces: listOf(words), sources: listOf(source), ranks: listOf(count), counts: listOf(count) };

  const has = (value, fields) => Object.entries(fields).every(([name, is]) => is(value[name]));

  /** A refusal: the key of a sentence, and what goes into it. */
  const refused = (problem, values) => ({ events: null, problem, values: values || {} });

  /** The events of a recording's text, `{ events }`, or `{ problem, values }` that says what is wrong. Pure. */
  function parse(text) {
    const lines = text.split("\n"), events = [], clocks = new Map(); // by lane: when its newest step ended
    const whole = text.endsWith("\n");
    for (let i = 0; i < lines.length; i += 1) {
      if (!lines[i].trim()) continue;
      let event = null;
      try {
        event = JSON.parse(lines[i]);
      } catch (error) {
        return events.length ? refused(i === lines.length - 1 && !whole ? "file.cut" : "file.damaged", { n: i + 1 }) : refused("file.other");
      }
      const problem = events.length ? wrong(event, events[0], i + 1, clocks) : first(event);
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
    const lanes = Array.isArray(run.lanes) && run.lanes.length > 0 && run.lanes.length <= MOST_LANES && run.lanes.every((lane) => lane && words(lane.key));
    const told = words(run.prompt) && [run.id, run.title, run.date].every(maybe(words));
    return lanes && told && [run.model, run.settings].every(maybe(object)) ? null : refused("file.damaged", { n: 1 });
  }

  /** What is wrong with another line, or null. */
  function wrong(event, run, n, clocks) {
    const bad = refused("file.damaged", { n });
    if (!object(event) || !KINDS.has(event.kind) || !has(event, FIELDS[event.kind])) return bad;
    if (!run.lanes.some((lane) => lane.key === event.lane)) return bad;
    if (event.kind === "compare") return event.identical || count(event.first) ? null : bad;
    if (event.kind !== "step" && event.kind !== "draft") return null;
    const size = event.tokens.length;
    if (event.pieces.length !== size || event.sources.length !== size) return bad;
    return event.kind === "draft" || stepped(event, clocks) ? null : bad;
  }

  /** Whether a step wrote something, from its own tree, and no earlier than the one before it. */
  function stepped(step, clocks) {
    const end = step.start + step.seconds, before = clocks.get(step.lane) || 0;
    clocks.set(step.lane, end);
    // The state at a time is found by bisection, which needs times that rise.
    const timed = number(end) && end >= before - ROUNDING;
    return timed && step.tokens.length > 0 && step.accepted <= Math.min(step.drafted, step.tokens.length) && grown(step.tree);
  }

  /** Whether a draft tree can be drawn: one entry a node, parents before children, a path from the root. */
  function grown(tree) {
    if (tree === null || tree === undefined) return true;
    const size = Array.isArray(tree.parents) ? tree.parents.length : 0;
    const level = size <= MOST_NODES && has(tree, TREE) && Object.keys(TREE).every((name) => tree[name].length === size);
    const rooted = size > 0 && tree.parents.every((parent, i) => (i ? Number.isInteger(parent) && parent >= 0 && parent < i : parent === -1));
    return level && rooted && listOf(count)(tree.path) && tree.path[0] === 0 && tree.path.every((node, i) => i === 0 || tree.parents[node] === tree.path[i - 1]);
  }

  /** A file as a recording, unpacked where it is packed. What is wrong with a file is told, never thrown. */
  async function read(file) {
    if (file.size > LARGEST) return refused("file.large");
    let text = "";
    try {
      const head = new Uint8Array(await file.slice(0, 2).arrayBuffer());
      const packed = head[0] === 0x1f && head[1] === 0x8b;
      text = await textOf(packed ? file.stream().pipeThrough(new DecompressionStream("gzip")) : file.stream());
    } catch (error) {
      console.warn(error); // mostly a file that is cut off, or no gzip at all
      return refused(error instanceof RangeError ? "file.large" : "file.cut");
    }
    return parse(text);
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

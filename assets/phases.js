/* Thinking, draft and answer of one lane: where each begins and ends, in tokens and in seconds. Pure. */
(function (root) {
  "use strict";
  const S = (root.Slipstream = root.Slipstream || {});

  /** What a lane's story holds besides its steps. */
  const empty = () => ({ phases: { reasoning: null, answer: null }, drafts: [], verifies: [], prefix: [], suffix: [] });

  /** Take in a `phase`, `draft` or `verify` event. What has come before tells when it can be seen. */
  function add(lane, event) {
    if (event.kind === "phase") lane.phases[event.phase] = { at: event.at, cut: event.cut || 0, by: event.by, step: lane.steps.length };
    else if (event.kind === "draft") addDraft(lane, event);
    else lane.verifies.push({ ...event, after: lane.steps.length });
  }

  function addDraft(lane, event) {
    let draft = lane.drafts.find((one) => one.id === event.id);
    if (!draft) {
      draft = { id: event.id, openedAt: event.opened_at, length: event.length, start: event.start, pieces: [], sources: [], moments: [], steps: [] };
      lane.drafts.push(draft);
    }
    // One by one: a call takes only so many arguments, a file may hold more.
    for (const piece of event.pieces) draft.pieces.push(piece);
    for (const source of event.sources) draft.sources.push(source);
    draft.steps.push(event.step);
    draft.moments.push({ pieces: draft.pieces.length, written: event.written, closed: event.closed, end: event.start + event.seconds });
  }

  /** Sums by step of the answer's tokens that a draft held; kept beside the step. */
  function count(lane, step) {
    for (const source of ["prefix", "suffix"]) {
      const sums = lane[source];
      sums.push((sums.length ? sums[sums.length - 1] : 0) + step.sources.filter((one) => one === source).length);
    }
  }

  const reached = (border, token, letter) => Boolean(border) && (token > border.at || (token === border.at && letter >= border.cut));

  /** Whether a character of a token is thought or answered. */
  function phaseOf(lane, token, letter) {
    const { reasoning, answer } = lane.phases;
    return reached(reasoning, token, letter) && !reached(answer, token, letter) ? "reasoning" : "answer";
  }

  /** Step i as it is read: `{ text, source, phase, token }` each; a piece on the border is two of them. */
  function parts(lane, i) {
    const step = lane.steps[i], first = i ? lane.tokens[i - 1] : 0, found = [];
    const borders = [lane.phases.reasoning, lane.phases.answer];
    step.pieces.forEach((piece, k) => {
      const token = first + k, source = step.sources[k];
      const cuts = borders.filter((border) => border && border.at === token && border.cut > 0).map((border) => border.cut);
      if (!cuts.length) {
        found.push({ text: piece, source, token, phase: phaseOf(lane, token, 0) });
        return;
      }
      const letters = Array.from(piece); // the engine counts characters, not UTF-16 units
      [0, ...cuts].forEach((from, n) => {
        found.push({ text: letters.slice(from, cuts[n]).join(""), source, token, phase: phaseOf(lane, token, from) });
      });
    });
    return found;
  }

  /** The answer's first token: the border's own where it holds text of the answer, else the one behind the marker. */
  function answerFrom(lane) {
    const { at, cut } = lane.phases.answer;
    const k = S.fold.upTo(lane.tokens, at);
    if (k >= lane.steps.length) return at;
    const piece = lane.steps[k].pieces[at - (k ? lane.tokens[k - 1] : 0)];
    return Array.from(piece).length > cut ? at : at + 1;
  }

  /** The thinking once `n` steps have ended and `tokens` are written; null where there is none (yet). */
  function thinkingAt(lane, n, tokens, totals) {
    const { reasoning, answer } = lane.phases;
    if (!reasoning || reasoning.step >= n) return null;
    const closed = Boolean(answer) && answer.step < n;
    const until = closed ? Math.min(tokens, answerFrom(lane)) : tokens;
    const from = reasoning.at + (reasoning.by === "template" ? 0 : 1); // behind the marker the model wrote
    const known = (name, counted) => (totals && Number.isFinite(totals[name]) ? totals[name] : counted);
    return {
      tokens: known("thinking_tokens", Math.max(0, until - from)),
      answer: known("answer_tokens", tokens - until),
      open: !closed, closedBy: closed ? answer.by : "",
    };
  }

  /** The newest draft once `n` steps have ended: how much of it is there, and what became of it. */
  function draftAt(lane, n, finished) {
    const opened = lane.drafts.filter((draft) => draft.steps[0] < n);
    if (!opened.length) return null;
    // A draft that only repeated an earlier one so far is not checked: that one is, and shown.
    const checked = lane.verifies.find((one) => one.after <= n);
    const draft = (checked && opened.find((one) => one.id === checked.draft)) || opened[opened.length - 1];
    const moment = draft.moments[S.fold.upTo(draft.steps, n - 1) - 1];
    const verify = lane.verifies.find((one) => one.draft === draft.id && one.after <= n) || null;
    return {
      id: draft.id, openedAt: draft.openedAt, length: draft.length, pieces: moment.pieces,
      written: moment.written, closed: moment.closed || (finished ? "finish" : ""), verify,
    };
  }

  /** Lane time at which the thinking is over. Infinity while it goes on, 0 where there is none. */
  function answerBegins(lane) {
    const { reasoning, answer } = lane.phases;
    if (!reasoning) return 0;
    if (!answer) return Infinity;
    const first = answerFrom(lane), k = S.fold.upTo(lane.tokens, first);
    if (k >= lane.steps.length) return Infinity;
    // A step in which the thinking ends is the thinking's.
    const inside = (first === answer.at && answer.cut > 0) || first > (k ? lane.tokens[k - 1] : 0);
    return inside ? lane.ends[k] : lane.steps[k].start;
  }

  /** Lane time at which the first token of the answer was there; null before. */
  function firstAnswer(lane) {
    const { reasoning, answer } = lane.phases;
    if (reasoning && !answer) return null;
    const totals = lane.finish ? lane.finish.totals : {};
    if (Number.isFinite(totals.answer_at)) return totals.answer_at;
    const k = S.fold.upTo(lane.tokens, reasoning ? answerFrom(lane) : 0);
    return k < lane.ends.length ? lane.ends[k] : null;
  }

  /**
   * What a lane's clock was spent on: `{ kind, start, end }` in order, kind "prefill",
   * "thinking", "verify" or "answer". Each starts where the one before it ends, the first
   * at 0 and the last ends with the clock, so they add up to it.
   */
  function spans(lane) {
    const whole = S.fold.laneEnd(lane), found = [];
    const until = (kind, time) => {
      const before = found[found.length - 1];
      const start = before ? before.end : 0, end = Math.min(time, whole);
      if (!(end > start)) return;
      if (before && before.kind === kind) before.end = end;
      else found.push({ kind, start, end });
    };
    until("prefill", lane.steps.length ? lane.steps[0].start : whole);
    const border = answerBegins(lane);
    until("thinking", border);
    if (border === Infinity) return found;
    for (const verify of lane.verifies) {
      until("answer", verify.start);
      until("verify", verify.start + verify.seconds);
    }
    until("answer", Infinity);
    return found;
  }

  /** When each draft was written: `{ id, start, end, openedAt, written, closed }`. */
  function draftSpans(lane) {
    return lane.drafts.map((draft) => {
      const { end, written, closed } = draft.moments[draft.moments.length - 1];
      return { id: draft.id, start: draft.start, end, openedAt: draft.openedAt, written, closed };
    });
  }

  /** Whether a lane thinks first, as far as is known: the run says that it may. */
  const laneThinks = (lane, asked) => Boolean(lane.phases.reasoning || (asked.thinks && !lane.finish));
  const thinks = (story) => story.order.some((key) => laneThinks(story.lanes.get(key), (story.run && story.run.settings) || {}));

  S.phases = { empty, add, count, parts, thinkingAt, draftAt, answerBegins, firstAnswer, spans, draftSpans, laneThinks, thinks };
})(typeof globalThis !== "undefined" ? globalThis : this);

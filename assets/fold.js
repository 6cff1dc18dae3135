/* Events to states. `at(story, t)` depends on the events and on t alone; live is t = Infinity. Pure. */
(function (root) {
  "use strict";
  const S = (root.Slipstream = root.Slipstream || {});
  const EPSILON = 1e-9;

  /** An empty story; events go in through `add`, in the order of the run. */
  function create() {
    return { run: null, lanes: new Map(), order: [], events: [], count: 0 };
  }

  function laneOf(story, key, capacity) {
    let lane = story.lanes.get(key);
    if (!lane) {
      lane = {
        key, capacity, prefills: [], steps: [], ends: [], tokens: [], drafted: [], accepted: [],
        count: 0, finish: null, compare: null, check: null, ...S.phases.empty(),
      };
      story.lanes.set(key, lane);
      story.order.push(key);
    }
    return lane;
  }

  /** Take in events. Sums are kept per step, so that a state is found by bisection. */
  function add(story, events) {
    for (const event of events) {
      story.count += 1;
      story.events.push(event);
      if (event.kind === "run") {
        story.run = event;
        for (const lane of event.lanes) laneOf(story, lane.key, lane.capacity);
        continue;
      }
      if (typeof event.lane !== "string") continue;
      const lane = laneOf(story, event.lane);
      lane.count += 1;
      if (event.kind === "prefill") lane.prefills.push(event);
      else if (event.kind === "finish") lane.finish = event;
      else if (event.kind === "compare") lane.compare = event;
      else if (event.kind === "check") lane.check = event;
      else if (event.kind === "step") addStep(lane, event);
      else if (["phase", "draft", "verify"].includes(event.kind)) S.phases.add(lane, event);
    }
    return story;
  }

  function addStep(lane, step) {
    const n = lane.steps.length;
    lane.steps.push(step);
    lane.ends.push(step.start + step.seconds);
    lane.tokens.push((n ? lane.tokens[n - 1] : 0) + step.tokens.length);
    lane.drafted.push((n ? lane.drafted[n - 1] : 0) + step.drafted);
    lane.accepted.push((n ? lane.accepted[n - 1] : 0) + step.accepted);
    S.phases.count(lane, step);
  }

  /** How many of the rising numbers in `list` are at most `value`. */
  function upTo(list, value) {
    let low = 0, high = list.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (list[middle] <= value + EPSILON) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  const last = (list) => (list.length ? list[list.length - 1] : undefined);

  /** The lane time of everything known of this lane. */
  function laneEnd(lane) {
    const steps = last(lane.ends) || 0;
    const read = lane.prefills.length ? last(lane.prefills).seconds : 0;
    const total = lane.finish && Number.isFinite(lane.finish.totals.seconds) ? lane.finish.totals.seconds : 0;
    return Math.max(steps, read, total);
  }

  const duration = (story) => Math.max(0, ...story.order.map((key) => laneEnd(story.lanes.get(key))));
  /** The lane time up to which nothing more can come: where the lane is that is furthest behind of those that still write. */
  function settled(story) {
    const open = story.order.map((key) => story.lanes.get(key)).filter((lane) => !lane.finish);
    return open.length ? Math.min(...open.map(laneEnd)) : duration(story);
  }

  /** What all lanes together took: they run one after another on one device. */
  const computed = (story) => story.order.reduce((sum, key) => sum + laneEnd(story.lanes.get(key)), 0);

  /** The most tokens this lane may come to write; for the length of its bar. */
  function goal(story, lane) {
    if (lane.finish && lane.finish.reason !== "stopped" && lane.finish.reason !== "error") return Math.max(1, last(lane.tokens) || 0);
    const asked = (story.run && story.run.settings) || {};
    const thinking = lane.phases.reasoning ? asked.thinking_budget || 0 : 0;
    return Math.max((asked.max_new_tokens || 0) + thinking, last(lane.tokens) || 0, 1);
  }

  /** One lane at lane time t. `steps` is how many steps have ended; everything else follows from it. */
  function laneAt(story, lane, t) {
    const n = upTo(lane.ends, t);
    const end = laneEnd(lane);
    const finished = Boolean(lane.finish) && n === lane.steps.length && t + EPSILON >= end;
    let prefill = null;
    for (const piece of lane.prefills) if (piece.seconds <= t + EPSILON) prefill = piece;
    const of = (sums) => (n ? sums[n - 1] : 0);
    const clock = Math.max(0, Math.min(t, end));
    const tokens = of(lane.tokens);
    const totals = finished ? lane.finish.totals : null;
    const forwards = totals && Number.isFinite(totals.forwards) ? totals.forwards : n;
    const first = S.phases.firstAnswer(lane);
    return {
      key: lane.key, capacity: lane.capacity, steps: n, clock, tokens, forwards,
      drafted: of(lane.drafted), accepted: of(lane.accepted),
      rate: clock > 0 ? tokens / clock : 0,
      perForward: forwards ? tokens / forwards : 0,
      progress: Math.min(1, tokens / goal(story, lane)),
      prefill: prefill || (lane.prefills.length ? { done: 0, prompt_tokens: lane.prefills[0].prompt_tokens } : null),
      finished, reason: finished ? lane.finish.reason : "", message: finished ? lane.finish.message || "" : "",
      note: finished ? lane.finish.note || "" : "",
      thinking: S.phases.thinkingAt(lane, n, tokens, totals), draft: S.phases.draftAt(lane, n, finished),
      prefix: of(lane.prefix), suffix: of(lane.suffix), answerAt: first !== null && first <= clock + EPSILON ? first : null,
      check: finished ? lane.check : null, badge: null, result: null,
    };
  }

  /** Everything the page shows at lane time t. */
  function at(story, t) {
    const lanes = story.order.map((key) => laneAt(story, story.lanes.get(key), t));
    const vanilla = lanes.find((lane) => lane.key === "vanilla") || null;
    for (const lane of lanes) {
      lane.badge = badge(story.lanes.get(lane.key), lane, vanilla);
      lane.result = result(story, lane, vanilla);
    }
    return { t, lanes, duration: duration(story), done: lanes.length > 0 && lanes.every((lane) => lane.finished) };
  }

  /** What can be said at this moment about the lane's text against vanilla's. */
  function badge(lane, state, vanilla) {
    if (lane.key === "vanilla") return { kind: "reference" };
    if (!vanilla) return { kind: "alone" };
    const compare = lane.compare;
    if (!compare) return { kind: "pending" };
    const both = Math.min(state.tokens, vanilla.tokens);
    if (!compare.identical) {
      const shorter = state.tokens <= vanilla.tokens ? state : vanilla;
      const longest = Math.max(state.tokens, vanilla.tokens);
      if (both > compare.first || (shorter.finished && longest > compare.first && shorter.tokens >= compare.first)) {
        return { kind: "differs", compare };
      }
      return { kind: both ? "same" : "pending", n: Math.min(both, compare.first) };
    }
    const n = Math.min(both, compare.checked);
    if (compare.complete && state.finished && vanilla.finished) return { kind: "identical", n };
    return { kind: n ? "same" : "pending", n };
  }

  /** Lane time at which a lane had its first k tokens. */
  function timeTo(lane, k) {
    if (k <= 0) return 0;
    const index = upTo(lane.tokens, k - 1);
    return index < lane.ends.length ? lane.ends[index] : Infinity;
  }

  /** The lane against vanilla over the tokens that both have written alike by now. */
  function result(story, state, vanilla) {
    const lane = story.lanes.get(state.key);
    const wasted = state.drafted ? (state.drafted - state.accepted) / state.drafted : null;
    const base = { forwards: state.forwards, instead: state.tokens, wasted, ratio: null, upTo: 0, whole: false };
    if (!vanilla || vanilla.key === state.key) return base;
    let k = Math.min(state.tokens, vanilla.tokens);
    const differs = lane.compare && !lane.compare.identical && lane.compare.first < k;
    if (differs) k = lane.compare.first;
    if (k > 0) {
      const mine = timeTo(lane, k), theirs = timeTo(story.lanes.get("vanilla"), k);
      if (mine > 0 && Number.isFinite(mine) && Number.isFinite(theirs)) base.ratio = theirs / mine;
    }
    base.upTo = k;
    base.whole = state.finished && vanilla.finished && !differs && state.tokens === vanilla.tokens;
    if (base.whole) base.instead = vanilla.forwards;
    return base;
  }

  /** The lane times worth stopping at, going from t in direction ±1, in one lane. */
  function neighbour(lane, t, direction) {
    if (!lane) return t;
    const stops = lane.prefills.map((piece) => piece.seconds).concat(lane.ends, [0, laneEnd(lane)]);
    stops.sort((a, b) => a - b);
    if (direction > 0) {
      for (const stop of stops) if (stop > t + 1e-6) return stop;
      return Math.max(t, laneEnd(lane)); // a lane may have ended before t, and forward is never back
    }
    let found = 0;
    for (const stop of stops) if (stop < t - 1e-6) found = stop;
    return found;
  }

  const ending = (lane, reason, message) => ({ kind: "finish", lane, reason, totals: {}, message: message || "" });

  /** End every lane that has not finished, as the visitor's Stop or a broken race ends it. */
  function halt(story, reason, message) {
    for (const key of story.order) {
      const lane = story.lanes.get(key);
      if (!lane.finish) lane.count += 1;
      if (!lane.finish) lane.finish = ending(key, reason, message);
    }
  }

  /**
   * The events of a story as a recording that can be opened again: a lane whose end never came
   * (the race was stopped, broke off or still runs) ends where it is. Pure.
   */
  function whole(story) {
    const ended = new Set(story.events.filter((event) => event.kind === "finish").map((event) => event.lane));
    const open = story.order.filter((key) => !ended.has(key));
    return story.events.concat(open.map((key) => story.lanes.get(key).finish || ending(key, "stopped")));
  }

  /** The lane whose trees are worth looking at first: the first that is not vanilla. */
  function favourite(story) {
    return story.order.find((key) => key === "racer") || story.order.find((key) => key !== "vanilla") || story.order[0] || null;
  }

  /**
   * What to do with a batch that starts at event `batch.from` of its run, where `count`
   * events are known: "new" (another run starts), "take" (what is new of it), "gap"
   * (something before it was lost) or "skip".
   */
  function admit(seen, batch, expecting, count) {
    if (batch.run !== seen.run) return expecting && !seen.past.includes(batch.run) ? "new" : "skip";
    if (seen.done) return "skip";
    if (batch.from > count) return "gap";
    return batch.done || batch.from + batch.events.length > count ? "take" : "skip";
  }

  /** Guesses turned down at the points the text went through, nearest first; deeper ones are only counted. */
  function rejected(step, most) {
    const tree = step.tree;
    if (!tree) return { pieces: [], more: 0 };
    const path = new Set(tree.path);
    const off = [];
    for (let i = 1; i < tree.parents.length; i += 1) {
      if (!path.has(i) && path.has(tree.parents[i])) off.push(i);
    }
    const shown = off.slice(0, most);
    return { pieces: shown.map((i) => ({ piece: tree.pieces[i], source: tree.sources[i] })), more: tree.parents.length - tree.path.length - shown.length };
  }

  /** A number that two stories share only if they show the same at lane time t: texts, figures, verdicts. */
  function hash(story, t) {
    const state = at(story, t);
    const texts = state.lanes.map((lane) => story.lanes.get(lane.key).steps.slice(0, lane.steps).map((step) => [step.pieces, step.sources]));
    const drafts = state.lanes.map((lane) => lane.draft && story.lanes.get(lane.key).drafts.find((one) => one.id === lane.draft.id).pieces.slice(0, lane.draft.pieces));
    // At the end it does not matter by which number it was reached.
    const words = JSON.stringify([{ ...state, t: state.done ? 0 : t }, texts, drafts]);
    let value = 0xcbf29ce484222325n; // FNV-1a, 64 bits
    for (const unit of new TextEncoder().encode(words)) value = BigInt.asUintN(64, (value ^ BigInt(unit)) * 0x100000001b3n);
    return value.toString(16).padStart(16, "0");
  }

  S.fold = {
    create, add, at, laneAt, laneEnd, duration, settled, computed, upTo, timeTo, neighbour, halt, whole, favourite, admit, rejected, hash,
    spans: (lane) => S.phases.spans(lane),
  };
})(typeof globalThis !== "undefined" ? globalThis : this);

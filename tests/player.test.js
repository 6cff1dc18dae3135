// Laws of the player's pure part. Run by tests/test_player.py, which writes the recordings.
"use strict";
const test = require("node:test");
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");

const assets = path.join(__dirname, "..", "assets");
for (const name of ["words.js", "phases.js", "fold.js", "tree.js", "draw.js", "timeline.js", "draft.js", "lane.js", "results.js", "token.js", "recording.js", "share.js", "keys.js", "tour.js", "closeup.js"]) require(path.join(assets, name));
const S = globalThis.Slipstream;
const { fold, phases, tree, words } = S;
const en = JSON.parse(fs.readFileSync(path.join(assets, "i18n", "en.json"), "utf8"));
const ko = JSON.parse(fs.readFileSync(path.join(assets, "i18n", "ko.json"), "utf8"));
const read = (name) => fs.readFileSync(path.join(process.env.RECORDINGS, name), "utf8").trim().split("\n").map((line) => JSON.parse(line));
const english = read("english.jsonl"), korean = read("korean.jsonl");
const thinking = read("thinking.jsonl"), cut = read("cut.jsonl"), again = read("again.jsonl");
const say = words.dictionary(en);
const told = (events) => fold.add(fold.create(), events);
const textAt = (story, key, t) => {
  const lane = story.lanes.get(key);
  return lane.steps.slice(0, fold.laneAt(story, lane, t).steps).flatMap((step) => step.pieces).join("");
};

test("the state at t is the same however the events arrived", () => {
  const whole = told(english);
  const pieces = fold.create();
  for (const event of english) fold.add(pieces, [event]);
  for (const t of [0, 0.05, 0.5, 1, 2.345, 5, Infinity]) assert.deepEqual(fold.at(pieces, t), fold.at(whole, t));
});

test("folding in any order of times gives the same states", () => {
  const story = told(english);
  const before = JSON.stringify(fold.at(story, 1.5));
  fold.at(story, Infinity);
  fold.at(story, 0);
  assert.equal(JSON.stringify(fold.at(story, 1.5)), before);
});

test("at the end each lane has its whole text, and finishing totals agree with the sums", () => {
  const story = told(english);
  const end = fold.at(story, Infinity);
  assert.ok(end.done);
  const vanilla = textAt(story, "vanilla", Infinity);
  for (const lane of end.lanes) {
    assert.equal(textAt(story, lane.key, Infinity), vanilla);
    const { totals } = story.lanes.get(lane.key).finish;
    assert.equal(lane.tokens, totals.tokens);
    assert.equal(lane.drafted, totals.drafted);
    assert.equal(lane.accepted, totals.accepted);
    assert.ok(Math.abs(lane.clock - totals.seconds) < 1e-6);
    assert.equal(lane.progress, 1);
  }
});

test("a step is written when it has ended, and not before", () => {
  const story = told(english);
  const lane = story.lanes.get("racer");
  const step = lane.steps[7];
  const end = step.start + step.seconds;
  assert.equal(fold.laneAt(story, lane, end - 1e-4).steps, 7);
  assert.equal(fold.laneAt(story, lane, end).steps, 8);
});

test("before the first token the prompt is being read", () => {
  const story = told(english);
  const lane = story.lanes.get("vanilla");
  const first = lane.prefills[0];
  assert.equal(fold.laneAt(story, lane, first.seconds / 2).prefill.done, 0);
  const state = fold.laneAt(story, lane, first.seconds);
  assert.equal(state.prefill.done, first.done);
  assert.equal(state.tokens, 0);
});

test("the badge never claims more than what both lanes have written", () => {
  const story = told(english);
  for (let t = 0; t < 12; t += 0.11) {
    const state = fold.at(story, t);
    const vanilla = state.lanes.find((lane) => lane.key === "vanilla");
    for (const lane of state.lanes) {
      if (lane.key === "vanilla") assert.equal(lane.badge.kind, "reference");
      else if (lane.badge.kind === "same") assert.ok(lane.badge.n <= Math.min(lane.tokens, vanilla.tokens));
      else if (lane.badge.kind === "identical") assert.ok(lane.finished && vanilla.finished);
      else assert.equal(lane.badge.kind, "pending");
    }
  }
  assert.equal(fold.at(story, Infinity).lanes[1].badge.kind, "identical");
});

test("a difference shows from the moment both lanes are past it, and is never called identical", () => {
  const story = told(korean);
  const { first } = story.lanes.get("racer").compare;
  assert.equal(first, 30);
  let shown = false;
  for (let t = 0; t < 12; t += 0.07) {
    const state = fold.at(story, t);
    const vanilla = state.lanes[0], racer = state.lanes[1];
    const past = Math.min(vanilla.tokens, racer.tokens) > first;
    assert.equal(racer.badge.kind === "differs", past);
    assert.notEqual(racer.badge.kind, "identical");
    if (!past && racer.badge.n) assert.ok(racer.badge.n <= first);
    shown = shown || past;
  }
  assert.ok(shown);
  const end = fold.at(story, Infinity).lanes[1];
  assert.equal(end.result.upTo, 30);
  assert.equal(end.result.whole, false);
});

test("a lane that ended early differs where it ended", () => {
  const story = told(korean);
  const racer = story.lanes.get("racer");
  racer.compare = { kind: "compare", lane: "racer", identical: false, checked: 10, complete: true, first: racer.tokens.at(-1), token: null, piece: "", vanilla_token: 5, vanilla_piece: "x", gap: 1, tolerance: 0.1, tie: false };
  story.lanes.get("vanilla").tokens[story.lanes.get("vanilla").tokens.length - 1] += 3;
  assert.equal(fold.at(story, Infinity).lanes[1].badge.kind, "differs");
});

test("the speed-up is the ratio of the times to the same number of tokens", () => {
  const story = told(english);
  const end = fold.at(story, Infinity).lanes.find((lane) => lane.key === "racer");
  const seconds = (key) => fold.laneEnd(story.lanes.get(key));
  assert.ok(Math.abs(end.result.ratio - seconds("vanilla") / seconds("racer")) < 1e-9);
  assert.ok(end.result.whole);
  assert.equal(end.result.forwards, story.lanes.get("racer").steps.length);
  const slow = told(english);
  for (const list of [slow.lanes.get("racer").ends]) list.forEach((value, i) => { list[i] = value * 10; });
  assert.ok(fold.at(slow, Infinity).lanes.find((lane) => lane.key === "racer").result.ratio < 1);
});

test("a run without a vanilla lane claims neither identity nor speed", () => {
  const story = told(english.filter((event) => event.lane !== "vanilla").map((event) => (event.kind === "run" ? { ...event, lanes: event.lanes.filter((lane) => lane.key !== "vanilla") } : event)));
  for (const lane of fold.at(story, Infinity).lanes) {
    assert.equal(lane.badge.kind, "alone");
    assert.equal(lane.result.ratio, null);
  }
});

test("stopping ends the unfinished lanes and keeps what they wrote", () => {
  const story = told(english.slice(0, 120));
  const before = fold.at(story, Infinity).lanes.map((lane) => lane.tokens);
  fold.halt(story, "stopped");
  const after = fold.at(story, Infinity);
  assert.deepEqual(after.lanes.map((lane) => lane.tokens), before);
  assert.ok(after.lanes.every((lane) => lane.reason === "stopped"));
  assert.ok(after.lanes.some((lane) => lane.progress < 1));
});

test("batches: only a new run while one is expected, only what is new, nothing after the end", () => {
  const seen = { run: "b", done: false, past: ["a"] };
  const admit = (batch, expecting) => fold.admit(seen, { events: [1, 2, 3], ...batch }, expecting, 10);
  assert.equal(admit({ run: "b", from: 10 }, false), "take");
  assert.equal(admit({ run: "b", from: 8 }, false), "take");
  assert.equal(admit({ run: "b", from: 7 }, false), "skip");
  assert.equal(admit({ run: "b", from: 11 }, false), "gap");
  assert.equal(admit({ run: "b", from: 10, events: [], done: true }, false), "take");
  assert.equal(admit({ run: "b", from: 11, events: [], done: true }, false), "gap");
  assert.equal(admit({ run: "c", from: 0 }, false), "skip");
  assert.equal(admit({ run: "c", from: 0 }, true), "new");
  assert.equal(admit({ run: "a", from: 0 }, true), "skip");
  seen.done = true;
  assert.equal(admit({ run: "b", from: 10 }, false), "skip");
  assert.equal(admit({ run: "b", from: 12, done: true }, false), "skip");
});

test("stepping goes through every step of a lane, there and back", () => {
  const story = told(english);
  const lane = story.lanes.get("racer");
  let t = 0, stops = 0;
  while (t < fold.laneEnd(lane)) {
    const next = fold.neighbour(lane, t, 1);
    assert.ok(next > t);
    t = next;
    stops += 1;
  }
  assert.ok(stops >= lane.steps.length);
  for (; t > 0; stops -= 1) t = fold.neighbour(lane, t, -1);
  assert.equal(stops, 0);
});

test("one step forward never goes back, also where the lane has ended before the others", () => {
  const story = told(english), lane = story.lanes.get("racer"), late = fold.duration(story);
  assert.ok(fold.laneEnd(lane) < late - 1);
  assert.equal(fold.neighbour(lane, late, 1), late);
  assert.equal(fold.neighbour(lane, late - 0.5, 1), late - 0.5);
  assert.equal(fold.neighbour(lane, late, -1), fold.laneEnd(lane));
});

test("to a moment at which a live run is held nothing is added", () => {
  const whole = told(english);
  for (let n = 20; n < english.length; n += 7) {
    const story = told(english.slice(0, n)), t = fold.settled(story);
    for (const key of story.order) {
      assert.equal(textAt(whole, key, t), textAt(story, key, t));
      const lane = story.lanes.get(key);
      assert.ok(fold.laneAt(story, lane, t).steps >= lane.steps.length - 1, "one step at most is taken back");
    }
  }
  assert.equal(fold.settled(whole), fold.duration(whole));
});

test("a run that was stopped, broke off or still runs is saved as a recording that opens and shows the same", () => {
  for (const reason of ["", "stopped", "error"]) {
    const story = told(english.slice(0, 120));
    if (reason) fold.halt(story, reason, reason === "error" ? "It broke." : "");
    const found = S.recording.parse(S.recording.format(fold.whole(story)));
    assert.equal(found.problem, undefined);
    assert.equal(story.events.length, 120);
    const again = told(found.events);
    assert.ok(fold.at(again, Infinity).lanes.every((lane) => lane.finished && lane.reason === (reason || "stopped")));
    if (reason) for (const t of [0.3, Infinity]) assert.equal(fold.hash(again, t), fold.hash(story, t));
  }
  assert.deepEqual(fold.whole(told(english)), english);
});

test("draft trees: no two nodes lie on one another, the path is straight, columns follow depth", () => {
  let biggest = 0;
  for (const event of english.concat(korean)) {
    if (event.kind !== "step" || !event.tree) continue;
    biggest = Math.max(biggest, event.tree.parents.length);
    for (const bonus of ["next", null]) {
      const place = tree.layout(event.tree, bonus);
      assert.equal(place.nodes.length, event.tree.parents.length + (bonus === null ? 0 : 1));
      const kept = place.nodes.filter((node) => node.accepted);
      assert.equal(new Set(kept.map((node) => node.y)).size, 1);
      assert.equal(kept[0].y, place.path);
      const columns = new Map();
      for (const node of place.nodes) {
        assert.ok(node.x >= 0 && node.x + node.width <= place.width + 1e-6);
        assert.ok(node.y > 0 && node.y < place.height);
        if (!columns.has(node.depth)) columns.set(node.depth, []);
        columns.get(node.depth).push(node);
      }
      for (const nodes of columns.values()) {
        const rows = nodes.map((node) => node.y).sort((a, b) => a - b);
        for (let i = 1; i < rows.length; i += 1) assert.ok(rows[i] - rows[i - 1] >= tree.ROW - 1e-6, "two nodes overlap");
      }
      for (const edge of place.edges) assert.ok(edge.x2 > edge.x1, "an edge goes backwards");
    }
  }
  assert.equal(biggest, 64);
});

test("rejected guesses are those made beside the text, and the rest is counted", () => {
  const step = { tree: { parents: [-1, 0, 0, 1, 1, 2], pieces: ["r", "a", "b", "c", "d", "e"], sources: ["target", "both", "logits", "both", "logits", "logits"], path: [0, 1, 3] } };
  assert.deepEqual(fold.rejected(step, 6), { pieces: [{ piece: "b", source: "logits" }, { piece: "d", source: "logits" }], more: 1 });
  assert.deepEqual(fold.rejected({ tree: null }, 6), { pieces: [], more: 0 });
});

test("white space and controls are visible, long tokens are cut between characters", () => {
  assert.equal(words.visible(" a\n\tb"), "·a↵⇥b");
  assert.equal(words.visible(""), "∅");
  assert.equal(words.visible("a\u202eb"), "a\ufffdb");
  const family = "👨‍👩‍👧‍👦";
  assert.equal(words.visible(family.repeat(3), 2), family + "…");
  assert.equal(words.visible("\u200d"), "U+200D");
});

test("a dictionary fills places once and falls back", () => {
  const say = words.dictionary({ a: "{x} and {y}", b_one: "one", b: "{n} many" }, { c: "fallback" });
  assert.equal(say("a", { x: "{y}", y: "$&" }), "{y} and $&");
  assert.equal(say("b", { n: 1 }), "one");
  assert.equal(say("b", { n: 2 }), "2 many");
  assert.equal(say("c"), "fallback");
  assert.equal(say("nothing"), "nothing");
});

const THINKING = fs.readFileSync(path.join(process.env.RECORDINGS, "thinking.txt"), "utf8");
const ANSWER = fs.readFileSync(path.join(process.env.RECORDINGS, "answer.txt"), "utf8");
const apart = (story, key) => {
  const lane = story.lanes.get(key), found = { reasoning: "", answer: "" };
  lane.steps.forEach((_, i) => phases.parts(lane, i).forEach((part) => { found[part.phase] += part.text; }));
  return found;
};

test("thinking and answer are told apart to the character, also inside a step and inside a token", () => {
  for (const events of [thinking, cut, again]) {
    const story = told(events);
    for (const key of story.order) assert.deepEqual(apart(story, key), { reasoning: THINKING, answer: ANSWER });
  }
  const [border] = cut.filter((event) => event.kind === "phase" && event.phase === "answer");
  assert.ok(border.cut > 0);
  assert.ok(told(thinking).lanes.get("racer").steps.some((step, i, all) => step.phase === "reasoning" && step.tokens.length > 1 && i + 1 < all.length && all[i + 1].phase === "answer"));
});

test("a border counts characters, not the halves of an emoji", () => {
  const step = { kind: "step", lane: "ssr", index: 0, phase: "reasoning", start: 0, seconds: 1, tokens: [1], pieces: ["👩a👍b"], sources: ["target"], drafted: 0, accepted: 0, tree: null };
  const story = told([{ kind: "phase", lane: "ssr", phase: "reasoning", at: 0, by: "template", cut: 0 }, { kind: "phase", lane: "ssr", phase: "answer", at: 0, by: "model", cut: 3 }, step]);
  assert.deepEqual(apart(story, "ssr"), { reasoning: "👩a👍", answer: "b" });
});

test("thinking that the model opens itself leaves what came before it with the answer", () => {
  const step = (index, piece) => ({ kind: "step", lane: "ssr", index, phase: index ? "reasoning" : "answer", start: index, seconds: 1, tokens: [1], pieces: [piece], sources: ["target"], drafted: 0, accepted: 0, tree: null });
  const story = told([step(0, ""), { kind: "phase", lane: "ssr", phase: "reasoning", at: 1, by: "model", cut: 0 }, step(1, ""), step(2, "hm"), { kind: "phase", lane: "ssr", phase: "answer", at: 3, by: "budget", cut: 0 }, step(3, ""), step(4, "yes")]);
  assert.deepEqual(apart(story, "ssr"), { reasoning: "hm", answer: "yes" });
  assert.equal(fold.at(story, 1.5).lanes[0].thinking, null);
  assert.deepEqual(fold.at(story, 3).lanes[0].thinking, { tokens: 1, answer: 0, open: true, closedBy: "" });
  assert.deepEqual(fold.at(story, 4).lanes[0].thinking, { tokens: 2, answer: 0, open: false, closedBy: "budget" });
  assert.deepEqual(fold.at(story, 9).lanes[0].thinking, { tokens: 2, answer: 1, open: false, closedBy: "budget" });
  assert.deepEqual(fold.spans(story.lanes.get("ssr")).map((span) => [span.kind, span.end]), [["thinking", 4], ["answer", 5]]);
  assert.equal(phases.firstAnswer(story.lanes.get("ssr")), 5);
});

test("a lane's bars follow one another from nothing to the lane's clock, whatever has come of the run", () => {
  for (const events of [english, korean, thinking, cut, again]) {
    for (const n of [3, 12, 60, 200, 333, 700, events.length]) {
      const story = told(events.slice(0, n));
      for (const key of story.order) {
        const lane = story.lanes.get(key), spans = fold.spans(lane);
        let at = 0;
        for (const span of spans) {
          assert.equal(span.start, at);
          assert.ok(span.end > at);
          at = span.end;
        }
        assert.equal(at, fold.laneEnd(lane));
        const sum = spans.reduce((total, span) => total + span.end - span.start, 0);
        assert.ok(Math.abs(sum - fold.laneEnd(lane)) < 1e-9);
      }
    }
  }
});

test("each bar is what the lane did then", () => {
  const story = told(thinking);
  const kinds = (key) => fold.spans(story.lanes.get(key)).map((span) => span.kind);
  assert.deepEqual(kinds("vanilla"), ["prefill", "thinking", "answer"]);
  assert.deepEqual(kinds("ssr"), ["prefill", "thinking", "verify", "answer"]);
  for (const key of story.order) {
    const lane = story.lanes.get(key), spans = fold.spans(lane);
    const seconds = (kind) => spans.filter((span) => span.kind === kind).reduce((sum, span) => sum + span.end - span.start, 0);
    const summed = (phase) => lane.steps.filter((step) => step.phase === phase).reduce((sum, step) => sum + step.seconds, 0);
    assert.ok(Math.abs(seconds("thinking") - summed("reasoning")) < 1e-6, key);
    assert.ok(Math.abs(seconds("verify") + seconds("answer") - summed("answer")) < 1e-6, key);
    assert.ok(Math.abs(seconds("prefill") - lane.prefills.at(-1).seconds) < 1e-6, key);
    const [verify] = lane.verifies;
    if (verify) assert.ok(Math.abs(seconds("verify") - verify.seconds) < 1e-6);
  }
  assert.deepEqual(fold.spans(told(english).lanes.get("racer")).map((span) => span.kind), ["prefill", "answer"]);
});

test("drafts are written below the thinking, one after the other", () => {
  const lane = told(again).lanes.get("ssr"), drafts = phases.draftSpans(lane);
  const thought = fold.spans(lane).find((span) => span.kind === "thinking");
  assert.ok(drafts.length > 2);
  let at = thought.start;
  for (const draft of drafts) {
    assert.ok(draft.start >= at - 1e-9 && draft.end > draft.start);
    at = draft.start;
  }
  assert.ok(drafts.at(-1).end <= thought.end + 1e-9);
  assert.deepEqual(drafts.map((draft) => draft.id), drafts.map((_, i) => i + 1));
});

test("the draft at t is what had been written by then, and the newest one", () => {
  const story = told(again), lane = story.lanes.get("ssr");
  const events = again.filter((event) => event.kind === "draft" && event.lane === "ssr");
  let seen = 0;
  for (let n = 0; n <= lane.steps.length; n += 1) {
    const state = fold.laneAt(story, lane, n ? lane.ends[n - 1] : 0);
    const known = events.filter((event) => event.step < n);
    if (!known.length) assert.equal(state.draft, null);
    else {
      const newest = known.at(-1).id, of = known.filter((event) => event.id === newest);
      assert.equal(state.draft.id, newest);
      assert.equal(state.draft.pieces, of.reduce((sum, event) => sum + event.pieces.length, 0));
      assert.equal(state.draft.written, of.at(-1).written);
      assert.equal(state.draft.closed, of.at(-1).closed);
      seen = Math.max(seen, newest);
    }
  }
  assert.ok(seen > 2);
});

test("what the check found is shown from the moment it is over", () => {
  const story = told(thinking), lane = story.lanes.get("ssr");
  const at = thinking.filter((event) => event.lane === "ssr" && (event.kind === "step" || event.kind === "verify")).findIndex((event) => event.kind === "verify");
  const time = lane.ends[at - 1];
  assert.equal(fold.laneAt(story, lane, time - 1e-3).draft.verify, null);
  const { draft } = fold.laneAt(story, lane, time);
  assert.equal(draft.verify.accepted, 30);
  assert.match(S.draftWords(draft, fold.laneAt(story, lane, time), 24, say).detail, /✓ 30 of \d+ stand, then “·d30”: the model chose “·and”/);
});

test("tokens reused from drafts are counted as they come, and agree with the totals", () => {
  const story = told(thinking);
  for (const key of ["ssr", "racer+ssr"]) {
    const lane = story.lanes.get(key), end = fold.laneAt(story, lane, Infinity);
    assert.equal(end.prefix, lane.finish.totals.prefix_tokens);
    assert.equal(end.suffix, lane.finish.totals.suffix_tokens);
    assert.ok(end.prefix > 5 && end.suffix > 5);
    assert.equal(fold.laneAt(story, lane, phases.answerBegins(lane)).prefix, 0);
  }
});

test("the first answer token is timed by the end of its step, and the card says it", () => {
  const story = told(thinking);
  for (const key of story.order) {
    const lane = story.lanes.get(key), first = phases.firstAnswer(lane);
    const k = lane.ends.indexOf(first), at = lane.phases.answer.at + 1; // behind the marker
    assert.equal(lane.steps[fold.upTo(lane.tokens, at - 1)].pieces[at - 1 - (lane.tokens[fold.upTo(lane.tokens, at - 1) - 1] || 0)], "");
    assert.ok(lane.tokens[k] > at && (k === 0 || lane.tokens[k - 1] <= at));
    assert.equal(fold.laneAt(story, lane, first - 1e-3).answerAt, null);
    assert.equal(fold.laneAt(story, lane, first).answerAt, first);
  }
  const state = fold.at(story, Infinity), ssr = state.lanes.find((lane) => lane.key === "ssr");
  const { rows } = S.resultWords(ssr, state, say);
  assert.deepEqual(rows.map((row) => row[0]), ["First answer token", "Last token", "Forwards", "Reused draft tokens"]);
  assert.equal(rows[1][1], words.seconds(ssr.clock) + " s");
  assert.match(rows[2][2], /^instead of 286 · \d+ saved$/);
  assert.match(rows[3][2], new RegExp(`${ssr.prefix} as prefix, ${ssr.suffix} as suffix`));
});

test("forwards are held against those that vanilla ran, not against its tokens", () => {
  const fewer = (event) => ({ ...event, totals: { ...event.totals, forwards: event.totals.forwards - 6 } });
  const state = fold.at(told(thinking.map((event) => (event.kind === "finish" && event.lane === "vanilla" ? fewer(event) : event))), Infinity);
  const { rows } = S.resultWords(state.lanes.find((lane) => lane.key === "ssr"), state, say);
  assert.match(rows[2][2], /^instead of 280 /);
});

test("a lane that drafting saved nothing says why in one sentence, in both languages", () => {
  for (const note of ["no-thinking", "no-answer", "short-thinking", "short-answer", "early-difference"]) {
    const story = told(thinking.map((event) => (event.kind === "finish" && event.lane === "ssr" ? { ...event, note } : event)));
    const state = fold.at(story, Infinity), ssr = state.lanes.find((lane) => lane.key === "ssr");
    for (const dictionary of [en, ko]) {
      const told = S.resultWords(ssr, state, words.dictionary(dictionary)).note;
      assert.equal(told, dictionary["note." + note]);
      assert.match(told, /\.$/);
    }
    assert.equal(fold.at(story, 1).lanes.find((lane) => lane.key === "ssr").note, "");
  }
});

test("a row's words name each sum, and they add up", () => {
  const lane = told(thinking).lanes.get("ssr");
  const told_ = S.rowWords("SSR", fold.spans(lane), say);
  const numbers = told_.match(/\d+\.\d+/g).map(Number), whole = numbers.pop();
  assert.ok(Math.abs(numbers.reduce((sum, one) => sum + one, 0) - whole) < 0.03, told_);
});

test("a stopped lane's draft is closed with it and stays out of the answer", () => {
  const until = thinking.findIndex((event) => event.kind === "draft" && event.lane === "ssr" && event.written === 20);
  const story = told(thinking.slice(0, until + 1));
  fold.halt(story, "stopped");
  const state = fold.at(story, Infinity).lanes.find((lane) => lane.key === "ssr");
  assert.equal(state.draft.written, 20);
  assert.equal(state.draft.closed, "finish");
  assert.equal(apart(story, "ssr").answer, "");
});

test("a recording without phases, as older ones are, is one answer", () => {
  const story = told(english);
  assert.equal(phases.thinks(story), false);
  for (const lane of fold.at(story, Infinity).lanes) {
    assert.equal(lane.thinking, null);
    assert.equal(lane.draft, null);
  }
  assert.equal(apart(story, "racer").reasoning, "");
});

test("names in the chart keep apart and on the chart", () => {
  const { spread } = S.draw;
  assert.deepEqual(spread([10, 10, 10, 40], 16, 200), [10, 26, 42, 58]);
  assert.deepEqual(spread([190, 195, 199], 16, 200), [168, 184, 200]);
});

test("both dictionaries have the same keys and the same places", () => {
  const places = (text) => [...new Set(text.match(/\{\w+\}/g) || [])].sort().join();
  for (const key in en) {
    if (/_one$|^number\./.test(key)) continue;
    assert.ok(key in ko, `ko.json lacks ${key}`);
    assert.equal(places(ko[key]), places(en[key]), key);
  }
  for (const key in ko) assert.ok(key in en, `en.json lacks ${key}`);
});

test("four thousand tokens are folded in a few milliseconds", () => {
  const story = fold.create();
  const many = [];
  for (let i = 0; i < 4000; i += 1) many.push({ kind: "step", lane: "vanilla", index: i, phase: "answer", start: i * 0.05, seconds: 0.05, tokens: [1], pieces: ["a "], sources: ["target"], drafted: 0, accepted: 0, tree: null });
  fold.add(story, many);
  const start = performance.now();
  for (let i = 0; i < 100; i += 1) fold.at(story, i * 2);
  assert.ok(performance.now() - start < 200);
});

test("the check of an answer is shown when its lane has ended, in the reader's words", () => {
  const end = english.findIndex((event) => event.kind === "finish");
  const key = english[end].lane;
  const verdict = { kind: "check", lane: key, task: "table", parsed: true, right: false, reason: "Row 3: Total is 41, not 42." };
  const story = told([...english.slice(0, end + 1), verdict, ...english.slice(end + 1)]);
  const lane = (t) => fold.at(story, t).lanes.find((one) => one.key === key);
  assert.equal(lane(0.1).check, null);
  assert.deepEqual(lane(Infinity).check, verdict);
  const wrong = S.checkWords(verdict, say), right = S.checkWords({ ...verdict, right: true }, say);
  assert.match(wrong.text, /^✗ .*wrong.*Row 3: Total is 41, not 42\.$/);
  assert.equal(wrong.className, "check wrong");
  assert.match(right.text, /^✓/);
  assert.ok(!right.text.includes("Row 3"));
  assert.ok(right.help.includes(en["task.table"]));
  assert.equal(S.checkWords(null, say).text, "");
  const { rows } = S.resultWords(lane(Infinity), fold.at(story, Infinity), say);
  assert.deepEqual(rows.find((row) => row[0] === en["result.check"]), [en["result.check"], en["result.check.wrong"], ""]);
});

test("a sentence with values in it is recognised by its template, and no other is", () => {
  const template = en["reason.value"];
  assert.deepEqual({ ...words.filled(template, "Row 3: the sum so far is 4.1, not 42.") }, { n: "3", column: "the sum so far", have: "4.1", want: "42" });
  assert.equal(words.filled(template, "Rows 3: a is b, not c."), null);
  assert.deepEqual({ ...words.filled("Is it (this)?", "Is it (this)?") }, {});
  assert.equal(words.filled("Is it (this)?", "Is it this?"), null);
  for (const key of Object.keys(en)) {
    if (!key.startsWith("reason.")) continue;
    const names = (text) => (text.match(/\{\w+\}/g) || []).sort();
    assert.deepEqual(names(ko[key]), names(en[key]), key);
  }
});

const lines = (events) => events.map((event) => JSON.stringify(event) + "\n").join("");

test("a recording read back from its text shows the same at every time", () => {
  for (const events of [english, korean, thinking, cut, again]) {
    const found = S.recording.parse(S.recording.format(events));
    assert.deepEqual(found.events, events);
    const first = told(events), second = told(found.events);
    for (const t of [0, 0.5, 2, Infinity]) assert.equal(fold.hash(second, t), fold.hash(first, t));
  }
});

test("two moments that look different have different hashes, and other runs too", () => {
  const story = told(thinking), hashes = new Set();
  const times = story.lanes.get("vanilla").ends;
  for (const t of times) hashes.add(fold.hash(story, t));
  assert.equal(hashes.size, times.length);
  assert.notEqual(fold.hash(told(english), Infinity), fold.hash(told(korean), Infinity));
  assert.equal(fold.hash(story, Infinity), fold.hash(story, 1e9));
  const changed = thinking.map((event) => (event.kind === "step" && event.index === 3 ? { ...event, pieces: event.pieces.map((piece) => piece + "!") } : event));
  assert.notEqual(fold.hash(told(changed), Infinity), fold.hash(story, Infinity));
});

test("a packed recording is unpacked, and one cut off anywhere is refused in words", async () => {
  const blob = await S.recording.pack(english);
  assert.ok(blob.size < lines(english).length / 3);
  assert.deepEqual((await S.recording.read(blob)).events, english);
  assert.deepEqual((await S.recording.read(new Blob([lines(english)]))).events, english);
  for (const share of [0.2, 0.6, 0.95]) {
    const found = await S.recording.read(blob.slice(0, Math.floor(blob.size * share)));
    assert.equal(found.problem, "file.cut");
  }
});

test("what is no recording, or not whole, is refused with a sentence in both languages", () => {
  const whole = lines(english), run = english[0];
  const cases = [
    ["", "file.empty"], ["\n\n", "file.empty"], ["hello", "file.other"], ["{}", "file.other"], ["[1]", "file.other"], ["null\n", "file.other"],
    [JSON.stringify({ ...run, schema: 99 }), "file.schema"], [JSON.stringify({ ...run, schema: undefined }), "file.schema"],
    [JSON.stringify({ ...run, lanes: [] }), "file.damaged"], [JSON.stringify({ ...run, lanes: 3 }), "file.damaged"], [JSON.stringify({ ...run, prompt: 3 }), "file.damaged"],
    [whole.slice(0, whole.length / 2), "file.cut"], [lines(english.slice(0, -1).filter((event) => event.kind !== "finish")), "file.cut"],
    [whole + whole, "file.damaged"], [whole + '{"kind":"dance","lane":"racer"}\n', "file.damaged"], [whole + "noise\n", "file.damaged"],
    [whole + '{"kind":"compare","lane":"nobody"}\n', "file.damaged"],
  ];
  const step = english.find((event) => event.kind === "step" && event.tree);
  for (const change of [{ pieces: ["a"] , tokens: [1, 2] }, { pieces: null }, { start: "0" }, { seconds: null }, { tree: 5 }, { tree: { ...step.tree, parents: [0] } }, { tree: { ...step.tree, path: [1] } }, { tree: { ...step.tree, ranks: [] } }, { tree: { ...step.tree, parents: step.tree.parents.map((one, i) => (i === 1 ? 5 : one)) } }]) {
    cases.push([lines(english.map((event) => (event === step ? { ...step, ...change } : event))), "file.damaged"]);
  }
  for (const [text, problem] of cases) {
    const found = S.recording.parse(text);
    assert.equal(found.problem, problem, text.slice(0, 60));
    assert.equal(found.events, null);
    for (const words_ of [en, ko]) {
      const sentence = words.dictionary(words_)(problem, found.values);
      assert.match(sentence, /[.]$/);
      assert.ok(!/[{}]/.test(sentence), sentence);
    }
  }
  for (const schema of S.recording.READABLE) assert.ok(S.recording.parse(lines([{ ...run, schema }, ...english.slice(1)])).events);
});

test("a file whose fields are not what the player takes them for is refused, not opened half", () => {
  const damaged = (kind, change) => {
    const at = thinking.findIndex((event) => event.kind === kind && (kind !== "step" || event.tree));
    assert.ok(at >= 0, kind);
    return S.recording.parse(lines(thinking.map((event, i) => (i === at ? { ...event, ...change(event) } : event)))).problem;
  };
  const each = (name, value) => (event) => ({ [name]: event[name].map(() => value) });
  const leaf = (name, value) => ({ tree }) => ({ tree: { ...tree, [name]: tree[name].map(() => value) } });
  const long = 5000; // a chain that would be drawn by as many calls inside one another
  const chain = { tokens: Array(long).fill(1), pieces: Array(long).fill("a"), sources: Array(long).fill("logits"), ranks: Array(long).fill(0), counts: Array(long).fill(0), parents: Array.from({ length: long }, (_, i) => i - 1), path: [0] };
  const changes = [
    ["run", () => ({ title: 5 })], ["run", () => ({ settings: [] })], ["run", ({ lanes }) => ({ lanes: [...lanes, ...Array.from({ length: 40 }, (_, i) => ({ key: "lane " + i }))] })],
    ["prefill", () => ({ seconds: "1" })], ["phase", () => ({ at: -1 })], ["phase", () => ({ by: null })],
    ["step", () => ({ tokens: [], pieces: [], sources: [], accepted: 0 })], ["step", each("pieces", 5)], ["step", each("sources", "__proto__")], ["step", each("sources", "tour")],
    ["step", () => ({ drafted: "=1+1" })], ["step", () => ({ accepted: 99 })], ["step", () => ({ start: -5 })], ["step", () => ({ index: null })],
    ["step", leaf("pieces", null)], ["step", leaf("sources", "constructor")], ["step", leaf("ranks", "1")], ["step", () => ({ tree: chain, drafted: long - 1, accepted: 0 })],
    ["draft", () => ({ id: null })], ["draft", each("sources", "x")], ["verify", () => ({ accepted: undefined })], ["verify", () => ({ token: 5, piece: null })],
    ["compare", () => ({ identical: false, first: null })], ["compare", () => ({ gap: "1" })], ["compare", () => ({ piece: undefined })],
    ["finish", () => ({ reason: 3 })], ["finish", () => ({ totals: [] })],
  ];
  for (const [kind, change] of changes) assert.equal(damaged(kind, change), "file.damaged", kind + String(change));
  const check = { kind: "check", lane: "racer", task: "table", parsed: true, right: false, reason: "Row 1 is wrong." };
  assert.ok(S.recording.parse(lines([...english, check])).events);
  assert.equal(S.recording.parse(lines([...english, { ...check, reason: 5 }])).problem, "file.damaged");
});

test("a draft may come in one piece of any length", () => {
  const many = Array(300_000).fill("a");
  const story = told([{ kind: "draft", lane: "ssr", id: 1, opened_at: 1, step: 0, start: 0, seconds: 1, tokens: many, pieces: many, sources: many, written: many.length, length: many.length, closed: "" }]);
  assert.equal(story.lanes.get("ssr").drafts[0].pieces.length, many.length);
});

test("the table has a row for every forward, and no cell that a spreadsheet would run", () => {
  const named = (event) => (event.lane === "ssr" ? { ...event, lane: "=1+1" } : event.kind === "run" ? { ...event, lanes: event.lanes.map((lane) => (lane.key === "ssr" ? { ...lane, key: "=1+1" } : lane)) } : event);
  const evil = english.map((event) => (event.kind === "step" && event.index === 0 ? { ...event, pieces: ['=1+1",\n'] , tokens: [1], sources: ["target"] } : event)).map(named);
  const story = told(evil), text = S.share.csv(story);
  const rows = [];
  let row = [""], quoted = false;
  for (let i = 0; i < text.length; i += 1) {
    const letter = text[i];
    if (quoted && letter === '"' && text[i + 1] === '"') { row[row.length - 1] += '"'; i += 1; }
    else if (letter === '"') quoted = !quoted;
    else if (!quoted && letter === ",") row.push("");
    else if (!quoted && letter === "\r") { rows.push(row); row = [""]; i += 1; }
    else row[row.length - 1] += letter;
  }
  assert.equal(rows.length, 1 + evil.filter((event) => event.kind === "step").length);
  assert.ok(rows.every((one) => one.length === rows[0].length));
  const column = rows[0].indexOf("text");
  for (const one of rows.slice(1)) assert.equal(typeof JSON.parse(one[column]), "string");
  assert.equal(JSON.parse(rows[1][column]), '=1+1",\n');
  assert.ok(rows.flat().every((one) => !/^[=+@\t\r]/.test(one) && !(one.startsWith("-") && Number.isNaN(Number(one)))));
  const lane = story.lanes.get("racer");
  const texts = rows.slice(1).filter((one) => one[0] === "racer").map((one) => JSON.parse(one[column])).join("");
  assert.equal(texts, lane.steps.flatMap((one) => one.pieces).join(""));
});

test("files and links are named so that they can be found again", () => {
  assert.equal(S.share.fileName({ title: "", prompt: "Why? <b>/..\\", id: "ab12" }, ".csv"), "why-b-ab12.csv");
  assert.equal(S.share.fileName({ title: "서울 소개", prompt: "x", id: "ab" }, ".html"), "서울-소개-ab.html");
  assert.equal(S.share.fileName({ prompt: "???", id: "" }, ".html"), "run.html");
  assert.equal(S.share.fileName({ prompt: "x", id: "../\u202ecba" }, ".csv"), "x-cba.csv");
  assert.equal(S.share.link("http://h/p?lang=ko&run=old&t=3", "new", 1.234), "http://h/p?lang=ko&run=new&t=1.234");
  assert.equal(S.share.link("http://h/p?run=old&t=3", "new", 0), "http://h/p?run=new&t=0");
  assert.equal(S.share.link("http://h/p?run=old&t=3", null, 2), "http://h/p?t=2");
  const story = told(english), lane = story.lanes.get("racer");
  lane.ends.forEach((end, i) => {
    const t = Number(new URL(S.share.link("http://h/p", "new", end)).searchParams.get("t"));
    assert.equal(fold.laneAt(story, lane, t).steps, i + 1, "the step that is looked at is there");
  });
});

test("a picture's text holds nothing that ends it", () => {
  assert.equal(S.share.printable("a\u0007b\ud800c\udc00\n\t👩‍💻\uffff"), "a\ufffdb\ufffdc\ufffd\n\t👩‍💻\ufffd");
  assert.doesNotThrow(() => encodeURIComponent(S.share.printable("\ud83d")));
});

test("what is told of a token is what the events say of it", () => {
  const story = told(english), lane = story.lanes.get("racer");
  let place = 0, ranked = 0;
  for (const step of lane.steps) {
    step.tokens.forEach((id, k) => {
      const facts = S.tokenFacts(lane, place);
      assert.deepEqual([facts.id, facts.piece, facts.source, facts.forward, facts.place], [id, step.pieces[k], step.sources[k], step.index + 1, place + 1]);
      assert.ok(Math.abs(facts.time - step.start - step.seconds) < 1e-9);
      if (step.tree && k < step.accepted) {
        const node = step.tree.path[k + 1];
        assert.equal(step.tree.tokens[node], id);
        assert.equal(facts.rank, step.tree.ranks[node] + 1);
        ranked += 1;
      } else assert.equal(facts.rank, null);
      place += 1;
    });
  }
  assert.ok(ranked > 5);
  assert.equal(S.tokenFacts(lane, place), null);
  const { rows, title } = S.tokenWords(S.tokenFacts(lane, 1), say);
  assert.ok(title.includes("2"));
  assert.ok(rows.every(([label, value]) => label && value));
});

test("arrow keys reach every node of a tree, and every way leads back to its root", () => {
  const story = told(english);
  for (const step of story.lanes.get("racer").steps.filter((one) => one.tree && one.tree.parents.length > 1)) {
    const bonus = step.tokens.length > step.accepted ? step.pieces[step.tokens.length - 1] : null;
    const { nodes } = tree.layout(step.tree, bonus), reached = new Set([nodes[0]]);
    for (const node of reached) {
      for (const key of ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]) {
        const next = tree.beside(nodes, node, key);
        if (next) reached.add(next);
        if (next && key === "ArrowLeft") assert.equal(next.i, node.parent);
        if (next && key === "ArrowRight") assert.equal(next.parent, node.i);
        if (next && /Up|Down/.test(key)) assert.ok(next.depth === node.depth && (key === "ArrowUp") === next.y < node.y);
      }
      assert.equal(tree.beside(nodes, node, "ArrowLeft") === undefined, node.i === 0);
    }
    assert.equal(reached.size, nodes.length);
    // Along the accepted ones the right arrow follows the text.
    let at = nodes[0], n = 0;
    for (let next; (next = tree.beside(nodes, at, "ArrowRight")) && next.accepted; at = next) n += 1;
    assert.equal(n, step.tokens.length);
  }
});

test("keys do what the list says, and nothing where they are needed for something else", () => {
  const on = (selectors) => ({ closest: (asked) => (asked.split(", ").some((one) => selectors.includes(one)) ? {} : null) });
  const press = (key, more) => ({ key, ...more });
  const body = on([]);
  assert.deepEqual(S.keys.action(press(" "), body), { name: "play", n: 0 });
  assert.deepEqual(S.keys.action(press("ArrowRight"), body).name, "forward");
  assert.deepEqual(S.keys.action(press("3"), body), { name: "lane", n: 2 });
  assert.deepEqual(S.keys.action(press("P"), body).name, "present");
  assert.deepEqual(S.keys.action(press("?"), body).name, "help");
  assert.deepEqual(S.keys.action(press("ㅔ", { code: "KeyP" }), body).name, "present");
  assert.equal(S.keys.action(press("ㅎ", { code: "KeyG" }), body), null);
  assert.equal(S.keys.action(press("x"), body), null);
  assert.equal(S.keys.action(press("p"), on(["textarea"])), null);
  assert.equal(S.keys.action(press(" "), on(["button"])), null);
  assert.equal(S.keys.action(press("ArrowLeft"), on(["input[type=range]"])), null);
  assert.equal(S.keys.action(press("ArrowLeft"), on([".text"])), null);
  assert.deepEqual([press("ArrowLeft"), press("ArrowRight"), press("ArrowUp"), press("ArrowLeft", { altKey: true })].map(S.keys.move), [-1, 1, 0, 0]);
  for (const held of ["ctrlKey", "metaKey", "altKey", "isComposing", "defaultPrevented"]) assert.equal(S.keys.action(press("f", { [held]: true }), body), null);
  for (const words_ of [en, ko]) for (const [keys, what] of S.keys.listed(words.dictionary(words_))) assert.ok(keys && what && !/^keys\./.test(what));
});

test("the tour has six stops over a run with both methods, each at a moment that shows it", () => {
  const story = told(thinking), stops = S.tour.stops(story);
  assert.deepEqual(stops.map((stop) => stop.key), ["draft", "verify", "tree", "wasted", "thinking", "same"]);
  for (const stop of stops) {
    assert.ok(story.lanes.has(stop.lane));
    if (stop.step >= 0) assert.ok(fold.laneAt(story, story.lanes.get(stop.lane), stop.t).steps > stop.step);
    for (const words_ of [en, ko]) assert.ok(!/[{}]/.test(words.dictionary(words_)("tour." + stop.key + ".text", stop.values)));
  }
  const wasted = stops[3].values;
  assert.ok(wasted.wasted > 0);
  const plain = told(thinking.filter((event) => event.kind === "run" || event.lane === "vanilla").map((event) => (event.kind === "run" ? { ...event, lanes: event.lanes.slice(0, 1) } : event)));
  assert.deepEqual(S.tour.stops(plain), []);
});

test("the close-up's figures are sums of the events", () => {
  const story = told(english), lane = story.lanes.get("racer"), n = lane.steps.length;
  for (const upTo of [0, 1, Math.floor(n / 2), n]) {
    const counts = S.closeup.lengths(lane, upTo);
    assert.equal(counts.reduce((sum, count, i) => sum + count * (i + 1), 0), upTo ? lane.tokens[upTo - 1] : 0);
    assert.equal(counts.reduce((sum, count) => sum + count, 0), upTo);
    const found = S.closeup.bySource(lane, upTo);
    const sum = (name) => Object.values(found).reduce((all, sums) => all + sums[name].reduce((a, b) => a + b, 0), 0);
    assert.equal(sum("drafted"), upTo ? lane.drafted[upTo - 1] : 0);
    assert.ok(sum("accepted") >= (upTo ? lane.accepted[upTo - 1] : 0));
  }
  assert.deepEqual(S.closeup.memory(lane, n).times, []);
  const remembering = told(english.map((event) => (event.kind === "step" ? { ...event, memory: [event.index, 0, 2 * event.index] } : event)));
  const memory = S.closeup.memory(remembering.lanes.get("racer"), 5);
  assert.deepEqual([memory.held, memory.known], [[0, 1, 2, 3, 4], [0, 2, 4, 6, 8]]);
  assert.deepEqual(memory.times, lane.ends.slice(0, 5));
  assert.equal(S.closeup.plain("<b>&"), "&lt;b&gt;&amp;");
});

test("a lane's name in a file is no markup in a chart", () => {
  const story = told(thinking.map((event) => ({ ...event, memory: [1, 2, 3] }))), state = fold.at(story, Infinity), lane = story.lanes.get("racer");
  const names = Object.fromEntries(story.order.map((key) => [key, "<a href='https://elsewhere.example'>" + key + "</a>"]));
  const scene = { story, state, names, lane, steps: lane.steps.length, step: lane.steps.find((step) => step.tree), wrote: -1, say, ink: { lanes: [] }, run: "r", t: 1 };
  for (const [tab, made] of Object.entries(S.closeup.traces)) {
    const traces = made(scene), layout = S.closeup.layoutOf(tab, say, scene.ink, scene);
    assert.ok(traces.length, tab);
    assert.ok(!/<a/.test(JSON.stringify([traces, layout])), tab);
    if (tab === "timeline") for (const name of traces.flatMap((trace) => trace.y)) assert.ok(layout.yaxis.categoryarray.includes(name));
  }
});

test("a sentence from the machine is said in the reader's language where it is known", () => {
  const korean_ = words.dictionary(ko, en), tell = (text) => words.translated(en, korean_, text);
  assert.equal(tell(en["error.no_model"]), ko["error.no_model"]);
  assert.equal(tell("Row 2: Total is 41, not 42."), ko["reason.value"].replace("{n}", "2").replace("{column}", "Total").replace("{have}", "41").replace("{want}", "42"));
  assert.equal(tell("Nobody knows this."), "Nobody knows this.");
  const begun = performance.now(), endless = "Row " + ": is , not ".repeat(2000);
  assert.equal(tell(endless), endless);
  assert.ok(performance.now() - begun < 500, "a file's sentence does not hold the page up");
  S.translated = tell;
  try {
    const state = { badge: { kind: "reference" }, finished: true, reason: "error", message: en["error.failed"] };
    assert.equal(S.badgeWords(state, korean_).more, ko["error.failed"]);
  } finally {
    delete S.translated;
  }
});

test("the address names the language, a recording and a moment", () => {
  const both = { en: {}, ko: {} };
  assert.equal(words.firstLanguage(both, "ko", "en-GB"), "ko");
  assert.equal(words.firstLanguage(both, "en", "ko-KR"), "en");
  for (const strange of [null, "de", "__proto__", "constructor", ""]) assert.equal(words.firstLanguage(both, strange, "ko-KR"), "ko");
  assert.equal(words.firstLanguage(both, null, undefined), "en");
  assert.equal(words.firstLanguage({ en: {} }, null, "ko"), "en");
  const { asked } = globalThis.Slipstream.share;
  assert.deepEqual(asked("?run=week-table&t=1.5"), { name: "week-table", t: 1.5 });
  assert.deepEqual(asked("?t="), { name: null, t: undefined });
  assert.deepEqual(asked("?run="), { name: "", t: undefined });
});

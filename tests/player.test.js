// Laws of the player's pure part. Run by tests/test_player.py, which writes the recordings.
"use strict";
const test = require("node:test");
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");

const assets = path.join(__dirname, "..", "assets");
for (const name of ["words.js", "phases.js", "fold.js", "tree.js", "draw.js", "timeline.js", "draft.js", "lane.js", "results.js"]) require(path.join(assets, name));
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
      assert.equal(state.draft.count, newest);
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

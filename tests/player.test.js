// Laws of the player's pure part. Run by tests/test_player.py, which writes the recordings.
"use strict";
const test = require("node:test");
const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");

const assets = path.join(__dirname, "..", "assets");
for (const name of ["words.js", "fold.js", "tree.js"]) require(path.join(assets, name));
const { fold, tree, words } = globalThis.Slipstream;
const en = JSON.parse(fs.readFileSync(path.join(assets, "i18n", "en.json"), "utf8"));
const ko = JSON.parse(fs.readFileSync(path.join(assets, "i18n", "ko.json"), "utf8"));
const read = (name) => fs.readFileSync(path.join(process.env.RECORDINGS, name), "utf8").trim().split("\n").map((line) => JSON.parse(line));
const english = read("english.jsonl"), korean = read("korean.jsonl");
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

test("batches: only a new run while one is expected, in order, once, nothing after the end", () => {
  const seen = { run: "b", seq: 4, done: false, past: ["a"] };
  const admit = (batch, expecting) => fold.admit(seen, batch, expecting);
  assert.equal(admit({ run: "b", seq: 5 }, false), "take");
  assert.equal(admit({ run: "b", seq: 4 }, false), "skip");
  assert.equal(admit({ run: "b", seq: 3 }, false), "skip");
  assert.equal(admit({ run: "b", seq: 9, done: true }, false), "mend");
  assert.equal(admit({ run: "c", seq: 0 }, false), "skip");
  assert.equal(admit({ run: "c", seq: 0 }, true), "new");
  assert.equal(admit({ run: "a", seq: 9 }, true), "skip");
  seen.done = true;
  assert.equal(admit({ run: "b", seq: 6 }, false), "skip");
  assert.equal(admit({ run: "b", seq: 9, done: true }, false), "skip");
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

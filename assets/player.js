/* The player: takes batches of events, holds the story, draws the state at time t. */
(function (root) {
  "use strict";
  const S = (root.Slipstream = root.Slipstream || {});
  const { el } = S.draw;
  const HEAVY = 700; // milliseconds between redrawings of tree, chart and results while live
  const MARKS = ["retrieval", "logits", "both"], LATER_MARKS = ["prefix", "suffix"];

  function put(node, text) {
    if (node.textContent !== text) node.textContent = text;
  }

  /** A player inside `box`. `say` is a dictionary, `language` its code. */
  function player(box, say, language) {
    const parts = build(box);
    let story = S.fold.create(), cards = new Map(), results = new Map();
    let mode = "empty", seen = { run: null, seq: -1, done: true, past: [] }, expecting = false;
    let chosen = null, pinned = null, peeked = null, rejected = false;
    let heavyAt = 0, heavyTimer = 0, treeShown = "", announced = new Set();
    const cost = { batches: 0, milliseconds: 0 };

    const tree = S.draw.treeView(parts.treePanel), chart = S.draw.chartView(parts.chartPanel);
    const controls = S.transport({
      moved: () => paint(true),
      step: (direction, t) => S.fold.neighbour(story.lanes.get(chosen), t, direction),
    });
    parts.foot.appendChild(controls.bar);

    const hooks = {
      pick(key) {
        chosen = key;
        pinned = null;
        paint(true);
      },
      step(key, index) {
        const same = pinned && pinned.key === key && pinned.index === index;
        chosen = key;
        peeked = null;
        pinned = same ? null : { key, index };
        paint(true);
        if (pinned) cards.get(key).reveal(index);
      },
      peek(key, index) {
        peeked = index < 0 ? null : { key, index };
        if (mode === "live") later();
        else paint(true);
      },
    };
    parts.follow.addEventListener("click", () => {
      pinned = null;
      paint(true);
    });
    parts.rejected.addEventListener("click", () => {
      rejected = !rejected;
      parts.rejected.setAttribute("aria-pressed", String(rejected));
      for (const card of cards.values()) card.setRejected(rejected);
      paint(true);
    });
    box.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && pinned) hooks.pick(chosen);
    });
    let resized = 0;
    root.addEventListener("resize", () => {
      clearTimeout(resized);
      resized = setTimeout(() => {
        treeShown = "";
        tree.measure();
        chart.measure();
        paint(true);
      }, 150);
    });

    // ---- the run -------------------------------------------------------------------

    function begin(kind) {
      controls.pause();
      controls.seek(Infinity, true);
      story = S.fold.create();
      mode = kind;
      pinned = peeked = null;
      announced = new Set();
      heavyAt = 0;
      treeShown = "";
      cards = new Map();
      results = new Map();
      parts.lanes.replaceChildren();
      parts.results.replaceChildren();
      delete parts.root.dataset.empty;
      parts.hint.hidden = true;
    }

    /** Take one batch; whatever belongs to another run or came twice is passed over. */
    function receive(batch) {
      const started = performance.now();
      const verdict = S.fold.admit(seen, batch, expecting || mode === "empty");
      if (verdict === "skip") return;
      if (batch.run === "" && !batch.events.length) return refuse(batch);
      if (verdict === "new") {
        if (seen.run !== null) seen.past.push(seen.run);
        seen = { run: batch.run, seq: -1, done: false, past: seen.past, lost: batch.seq !== 0 };
        expecting = false;
        begin("live");
        S.fold.add(story, batch.events);
        notice("");
        announce(say("status.started"));
      } else if (verdict === "mend") mend(batch);
      else {
        if (batch.seq !== seen.seq + 1) seen.lost = true;
        S.fold.add(story, batch.events);
      }
      seen.seq = batch.seq;
      if (batch.done) finish(batch.error);
      else live();
      cost.batches += 1;
      cost.milliseconds += performance.now() - started;
    }

    /** The last batch holds the whole run: take what is new of it, or all where a batch was lost. */
    function mend(batch) {
      if (!seen.lost && batch.seq <= seen.seq + 1) {
        S.fold.add(story, batch.events.slice(story.count));
        return;
      }
      story = S.fold.add(S.fold.create(), batch.events);
      for (const card of cards.values()) card.reset();
    }

    function finish(error) {
      seen.done = true;
      mode = error ? "failed" : "finished";
      if (error) S.fold.halt(story, "error", sentence(error));
      notice(error ? sentence(error) : "", error ? "bad" : "");
      end();
      if (!error) announce(say("status.done"));
    }

    /** A race that never began: say why and keep what was on the page. */
    function refuse(batch) {
      expecting = false;
      notice(sentence(batch.error || ""), "bad");
      if (mode === "waiting") mode = "empty";
      paintStrip();
    }

    /** The visitor's Stop: the text so far stays. Batches still under way are passed over. */
    function stop() {
      expecting = false;
      notice("");
      if (mode !== "live") return;
      seen.done = true;
      S.fold.halt(story, "stopped");
      mode = "stopped";
      end();
      announce(say("status.stopped"));
    }

    /** The stream ended without its last batch. */
    function ended() {
      if (mode === "live") finish(say("error.connection"));
      else if (expecting) refuse({ error: say("error.connection") });
    }

    function end() {
      clearTimeout(heavyTimer);
      heavyTimer = 0;
      controls.setLength(S.fold.duration(story), S.fold.computed(story), false);
      controls.seek(Infinity, true);
      paint(true);
    }

    /** A recording: labelled as one, played at true speed unless motion is unwelcome. */
    function recording(batch) {
      if (mode !== "empty" || expecting) return;
      begin("recording");
      seen = { run: batch.run, seq: batch.seq, done: true, past: seen.past };
      S.fold.add(story, batch.events);
      controls.setLength(S.fold.duration(story), S.fold.computed(story), false);
      const still = root.matchMedia && root.matchMedia("(prefers-reduced-motion: reduce)").matches;
      controls.seek(still ? Infinity : 0);
      if (!still) controls.start();
    }

    // ---- drawing -------------------------------------------------------------------

    /** While live: texts and figures at once, tree and chart a few times a second. */
    function live() {
      paint(false);
      later();
    }

    function later() {
      if (heavyTimer) return;
      const wait = Math.max(0, heavyAt + HEAVY - performance.now());
      heavyTimer = setTimeout(() => {
        heavyTimer = 0;
        paint(true);
      }, wait);
    }

    function paint(heavy) {
      if (mode === "empty") return;
      const state = S.fold.at(story, mode === "live" ? Infinity : controls.t);
      const fresh = state.lanes.length !== cards.size;
      if (fresh) addCards(state);
      for (const lane of state.lanes) cards.get(lane.key).show(story.lanes.get(lane.key), lane, say, heavy || mode !== "live");
      if (mode === "live") announceLanes(state);
      if (heavy || fresh) paintHeavy(state);
    }

    function addCards(state) {
      state.lanes.forEach((lane, place) => {
        if (cards.has(lane.key)) return;
        const card = S.laneCard(lane.key, place, hooks);
        card.label(lane, say);
        card.setRejected(rejected);
        cards.set(lane.key, card);
        parts.lanes.appendChild(card.card);
        if (lane.key === "vanilla") return;
        const result = resultCard();
        results.set(lane.key, result);
        parts.results.appendChild(result.root);
      });
      parts.root.style.setProperty("--lanes", String(cards.size));
      if (!story.lanes.has(chosen)) chosen = S.fold.favourite(story);
      if (mode === "live") controls.setLength(0, 0, true);
    }

    function paintHeavy(state) {
      heavyAt = performance.now();
      paintStrip();
      paintStep(state);
      for (const lane of state.lanes) if (results.has(lane.key)) results.get(lane.key).show(lane, state, say);
      chart.lines(story, say);
      chart.moment(mode === "live" ? Infinity : controls.t);
      const marks = [...story.lanes.values()].some((lane) => /ssr/.test(lane.key));
      for (const mark of parts.marks) mark.hidden = LATER_MARKS.includes(mark.dataset.source) && !marks;
      if (mode === "live") controls.setLength(S.fold.duration(story), S.fold.computed(story), true);
    }

    /** Which step is looked at: hovered, else picked, else the newest of the chosen lane. */
    function looked(state) {
      for (const pick of [peeked, pinned]) {
        if (!pick) continue;
        const lane = state.lanes.find((one) => one.key === pick.key);
        if (lane && pick.index < lane.steps) return pick;
      }
      const lane = state.lanes.find((one) => one.key === chosen);
      return { key: chosen, index: lane ? lane.steps - 1 : -1 };
    }

    function paintStep(state) {
      const { key, index } = looked(state);
      for (const [name, card] of cards) {
        card.chosen(name === key);
        card.mark(name === key ? index : -1, Boolean(pinned) && pinned.key === name);
      }
      parts.follow.hidden = !pinned;
      const moving = (mode === "live" || controls.playing) && !pinned && !peeked;
      const stamp = [seen.run, key, index, language, moving].join("|");
      if (stamp === treeShown) return;
      treeShown = stamp;
      const step = index >= 0 ? story.lanes.get(key).steps[index] : null;
      const lane = key ? S.draw.laneName(say, key) : "";
      const told = S.stepSentence(step, lane, say);
      put(parts.say, told);
      put(parts.treeTitle, step ? say("tree.title", { lane, f: step.index + 1 }) : say("tree"));
      tree.show(step, say, step && step.tree ? told : !step ? say("tree.pick") : key === "vanilla" ? say("tree.vanilla") : say("tree.empty"), moving);
    }

    function paintStrip() {
      const run = story.run;
      const tag = mode === "empty" ? "" : say("tag." + mode);
      put(parts.tag, tag);
      parts.tag.dataset.mode = mode;
      parts.strip.hidden = !run;
      if (!run) return;
      const title = mode === "recording" && run.title ? run.title : run.prompt;
      put(parts.prompt, title.replace(/\s+/g, " "));
      if (parts.prompt.title !== run.prompt) parts.prompt.title = run.prompt;
      const model = run.model || {};
      const device = [String(model.device || "").toUpperCase(), model.device_name].filter(Boolean).map(String);
      const facts = [model.name, device.length > 1 && device[0] !== device[1] ? `${device[0]} (${device[1]})` : device[0], model.dtype];
      if (mode === "recording") facts.push(say("strip.recorded", { date: S.words.day(run.date, language) }));
      put(parts.meta, facts.filter(Boolean).join(" · "));
    }

    // ---- words ---------------------------------------------------------------------

    /** A sentence from the machine, in the page's language where the page knows it. */
    function sentence(text) {
      return S.translated ? S.translated(text, say) : text;
    }

    function notice(text, kind) {
      put(parts.notice, text);
      parts.notice.hidden = !text;
      parts.notice.dataset.kind = kind || "";
    }

    function announce(text) {
      parts.status.textContent = text;
    }

    function announceLanes(state) {
      for (const lane of state.lanes) {
        if (!lane.finished || announced.has(lane.key)) continue;
        announced.add(lane.key);
        announce(say("status.lane", { lane: S.draw.laneName(say, lane.key), seconds: S.words.tenths(lane.clock), tokens: lane.tokens }));
      }
    }

    function setLanguage(next, code) {
      say = next;
      language = code;
      treeShown = "";
      label(parts, say);
      controls.language(say);
      for (const [key, card] of cards) card.label(story.lanes.get(key), say);
      if (rejected) for (const card of cards.values()) card.setRejected(true);
      paint(true);
    }

    setLanguage(say, language);
    controls.setLength(0, 0, false);
    return {
      receive, recording, stop, ended, notice, setLanguage, cost,
      hint(text) { put(parts.hint, text); },
      expect() { expecting = true; },
      get mode() { return mode; },
      get story() { return story; },
      controls,
    };
  }

  /** What happened in a step, in one sentence. Pure. */
  S.stepSentence = function stepSentence(step, lane, say) {
    if (!step) return say("say.start");
    const values = { lane, f: step.index + 1, drafted: step.drafted, accepted: step.accepted, tokens: S.words.counted(say, step.tokens.length) };
    if (step.accepted > 0) return say(step.accepted < step.tokens.length ? "say.agreed" : "say.last", values);
    if (step.drafted > 0) return say("say.none", values);
    return say(step.index === 0 ? "say.first" : "say.plain", values);
  };

  /** The figures of a result card, in words. Pure. */
  S.resultWords = function resultWords(lane, state, say) {
    const { ratio, forwards, tokens, wasted, upTo, whole } = lane.result;
    const vanilla = state.lanes.some((one) => one.key === "vanilla");
    let big = "…", tone = "";
    if (!vanilla) big = say("result.none");
    else if (ratio !== null) {
      tone = ratio > 1.03 ? "good" : ratio < 0.97 ? "slow" : "even";
      big = tone === "even" ? say("result.even") : say(tone === "good" ? "result.sooner" : "result.slower", { n: S.words.factor(tone === "good" ? ratio : 1 / ratio) });
    }
    const facts = [say("result.forwards", { n: forwards, tokens })];
    facts.push(wasted === null ? say("result.nodrafts") : say("result.wasted", { n: Math.round(wasted * 100) }));
    let small = "";
    if (vanilla && upTo) small = whole && lane.badge.kind === "identical" ? say("result.same", { n: upTo }) : lane.finished && state.done ? say("result.upto", { n: upTo }) : say("result.racing");
    return { big, tone, facts: facts.join(" · "), small };
  };

  function resultCard() {
    const card = el("article", "result");
    const name = el("h3", ""), big = el("div", "big"), facts = el("div", "facts"), small = el("div", "small");
    card.append(big, name, facts, small);
    return {
      root: card,
      show(lane, state, say) {
        const words = S.resultWords(lane, state, say);
        put(name, S.draw.laneName(say, lane.key));
        put(big, words.big);
        put(facts, words.facts);
        put(small, words.small);
        card.dataset.tone = words.tone;
      },
    };
  }

  /** The fixed frame of the player; words come with `label`. */
  function build(box) {
    const frame = el("div", "slip");
    frame.dataset.empty = "yes";
    const strip = el("div", "strip"), tag = el("span", "tag"), prompt = el("span", "prompt"), meta = el("span", "meta");
    strip.append(tag, prompt, meta);
    strip.hidden = true;
    const notice = el("p", "notice");
    notice.hidden = true;
    const hint = el("p", "hint");
    const legend = el("div", "legend"), plain = el("span", "");
    legend.appendChild(plain);
    const marks = [...MARKS, ...LATER_MARKS].map((source) => {
      const mark = el("span", "mark");
      mark.dataset.source = source;
      mark.appendChild(el("span", source));
      legend.appendChild(mark);
      return mark;
    });
    const rejected = el("button", "toggle");
    rejected.type = "button";
    rejected.setAttribute("aria-pressed", "false");
    legend.appendChild(rejected);
    const lanes = el("section", "lanes"), say = el("p", "say"), results = el("section", "results");
    const row = el("div", "row");
    const treePanel = el("section", "panel"), treeHead = el("div", "panel-head"), treeTitle = el("h2", ""), treeHow = el("p", "how"), follow = el("button", "toggle");
    follow.type = "button";
    follow.hidden = true;
    treeHead.append(treeTitle, follow);
    treePanel.append(treeHead, treeHow);
    const chartPanel = el("section", "panel"), chartTitle = el("h2", ""), chartHow = el("p", "how"), chartHead = el("div", "panel-head");
    chartHead.appendChild(chartTitle);
    chartPanel.append(chartHead, chartHow);
    row.append(treePanel, chartPanel);
    const fair = el("p", "fair"), foot = el("div", "foot-bar"), status = el("div", "unseen");
    status.setAttribute("role", "status");
    frame.append(notice, hint, strip, legend, lanes, say, results, row, fair, foot, status);
    box.replaceChildren(frame);
    return { root: frame, strip, tag, prompt, meta, notice, hint, plain, marks, rejected, lanes, say, results, treePanel, treeTitle, treeHow, follow, chartPanel, chartTitle, chartHow, fair, foot, status };
  }

  function label(parts, say) {
    put(parts.plain, say("legend.plain"));
    for (const mark of parts.marks) {
      put(mark.firstChild, say("source." + mark.dataset.source));
      mark.title = say("source." + mark.dataset.source + ".help");
    }
    put(parts.rejected, say("rejected"));
    parts.rejected.title = say("rejected.help");
    put(parts.say, say("say.start"));
    put(parts.treeTitle, say("tree"));
    put(parts.treeHow, say("tree.how"));
    put(parts.follow, say("tree.pinned"));
    parts.follow.title = say("tree.pinned.help");
    put(parts.chartTitle, say("chart"));
    put(parts.chartHow, say("chart.how"));
    put(parts.fair, say("fair"));
  }

  S.player = player;
})(typeof globalThis !== "undefined" ? globalThis : this);

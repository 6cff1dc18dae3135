/* The player: takes batches of events, holds the story, draws the state at time t. */
(function (root) {
  "use strict";
  const S = (root.Slipstream = root.Slipstream || {});
  const { put, passFocus } = S.draw;
  const LIGHT = 170; // milliseconds between redrawings of text and figures while live: the model needs the machine
  const HEAVY = 700; // the same for tree, charts and results
  const SETTLE = 90; // milliseconds after a move until tree, charts and results follow the lanes
  const MENDING = 5000; // milliseconds the end of a run is waited for after its stream has ended
  const AGAIN = 2000; // milliseconds after which what was asked for and did not come is asked for again

  /**
   * A player inside `box`. `say` is a dictionary, `language` its code. `outside` is what the
   * page around it can do: `missing(wanted)` asks for lost events, `gallery` lists recordings,
   * `open(name, t)` opens one of them, `shell()` gives an empty exported page, `unreached` says in
   * English, as the machine itself does, that it is no longer heard of, `own` is the id of the run
   * that is in the page itself.
   */
  function player(box, say, language, outside) {
    const parts = S.frame.build(box);
    let story = S.fold.create(), cards = new Map(), results = new Map();
    let desk = null; // buttons, dialogs, keys, files
    let cutOff = false; // the connection was lost in the middle of this run
    let meta = null; // of a bundled recording: its name, title and two sentences
    let mode = "empty", seen = { run: null, done: true, past: [], asked: -Infinity }, expecting = false, mending = 0;
    let chosen = null, pinned = null, peeked = null, rejected = false;
    let lightAt = 0, lightTimer = 0, heavyAt = 0, heavyTimer = 0, settling = 0, treeShown = "", announced = new Set();
    let noticed = { words: () => "", kind: "" }; // what is said above the run
    const unreached = (outside && outside.unreached) || ""; // said when the machine is no longer heard of
    const cost = { batches: 0, milliseconds: 0 };

    const tree = S.draw.treeView(parts.treePanel, walked), chart = S.chartView(parts.chartPanel), timeline = S.timelineView(parts.timePanel, announce);
    const closeup = S.closeup.view(parts.close, () => (outside && outside.plotly ? outside.plotly() : Promise.reject(new Error("no charts here"))), scene);
    const controls = S.transport({
      moved,
      step: (direction, t) => S.fold.neighbour(story.lanes.get(chosen), t, direction),
      length: () => S.fold.duration(story),
      settled: () => S.fold.settled(story),
    });
    parts.foot.appendChild(controls.bar);
    const tokens = S.tokenCard();
    parts.root.appendChild(tokens.root);

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
        if (!pinned) return;
        cards.get(key).reveal(index);
        announce(parts.say.textContent); // the caption is no live region: it changes all the time while a run plays
      },
      peek(key, index) {
        peeked = index < 0 ? null : { key, index };
        if (mode === "live") later();
        else paint(true);
      },
      token(key, token, node, byKey) {
        const facts = token < 0 ? null : S.tokenFacts(story.lanes.get(key), token);
        if (!facts) return tokens.hide();
        const told = tokens.show(facts, node, say);
        if (byKey) announce(told);
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
    parts.ask.addEventListener("click", () => openPrompt(parts.whole.hidden));
    let resized = 0;
    root.addEventListener("resize", () => {
      clearTimeout(resized);
      resized = setTimeout(() => {
        treeShown = "";
        tree.measure();
        chart.measure();
        timeline.measure();
        paint(true);
      }, 150);
    });

    // ---- the run -------------------------------------------------------------------

    function begin(kind) {
      controls.pause();
      controls.seek(Infinity, true);
      story = S.fold.create();
      mode = kind;
      meta = null;
      cutOff = false;
      tokens.hide();
      openPrompt(false);
      pinned = peeked = null;
      announced = new Set();
      heavyAt = lightAt = 0;
      treeShown = "";
      cards = new Map();
      results = new Map();
      parts.lanes.replaceChildren();
      parts.results.replaceChildren();
      timeline.clear();
      clearTimeout(mending);
      clearTimeout(settling);
      delete parts.root.dataset.empty;
      parts.hint.hidden = true;
    }

    /** Take what is new in a batch; what belongs to another run is passed over, what was lost is asked for. */
    function receive(batch) {
      const started = performance.now();
      const verdict = S.fold.admit(seen, batch, expecting || mode === "empty", story.count);
      if (verdict === "skip") return;
      if (batch.run === "" && !batch.events.length) return refuse(batch);
      if (verdict === "new") {
        seen = { run: batch.run, done: false, past: left(), asked: -Infinity };
        expecting = false;
        begin("live");
        if (desk) desk.begun();
        notice();
        announce(say("status.started"));
      }
      if (batch.from > story.count) return ask();
      if (batch.mended) seen.asked = -Infinity;
      S.fold.add(story, batch.events.slice(story.count - batch.from));
      if (batch.done) finish(batch.error);
      else live();
      cost.batches += 1;
      cost.milliseconds += performance.now() - started;
    }

    /** The runs that are over: what still comes of them is nobody's. */
    const left = () => (seen.run === null || seen.past.includes(seen.run) ? seen.past : seen.past.concat(seen.run));

    /**
     * A batch was lost: ask for what is missing; whatever comes before the reply is in it, or asked
     * for again. The reply can be lost as the batch was, so it is not waited for without end.
     */
    function ask() {
      const now = performance.now();
      if (now - seen.asked < AGAIN || !outside || !outside.missing) return;
      seen.asked = now;
      outside.missing({ run: seen.run, have: story.count });
    }

    function finish(error) {
      seen.done = true;
      mode = error ? "failed" : "finished";
      if (error) S.fold.halt(story, "error", error);
      if (error) notice(() => S.translated(error), "bad");
      else notice();
      end();
      if (!error) announce([...finished(S.fold.at(story, Infinity)), say("status.done")].join(" "));
    }

    /** A race that never began: say why and keep what was on the page. */
    function refuse(batch) {
      expecting = false;
      notice(() => S.translated(batch.error || ""), "bad");
      paintStrip();
    }

    /** The visitor's Stop: the text so far stays. Batches still under way are passed over. */
    function stop() {
      expecting = false;
      notice();
      if (mode !== "live") return;
      seen.done = true;
      S.fold.halt(story, "stopped");
      mode = "stopped";
      end();
      announce(say("status.stopped"));
    }

    /**
     * The stream ended. Without its last batch that is asked for, and if nothing comes the
     * connection is lost. `why` is said of a race that never began.
     */
    function ended(why) {
      if (mode !== "live" || !(outside && outside.missing)) return lost(why);
      clearTimeout(mending);
      seen.asked = -Infinity;
      ask();
      mending = setTimeout(() => { if (mode === "live") lost(); }, MENDING);
    }

    /** Nothing more will come of the run: what there is of it stays. */
    function lost(why) {
      clearTimeout(mending);
      cutOff = mode === "live";
      if (cutOff) finish(unreached);
      else if (expecting) refuse({ error: why || unreached });
    }

    function end() {
      clearTimeout(heavyTimer);
      clearTimeout(lightTimer);
      heavyTimer = lightTimer = 0;
      controls.setLength(S.fold.duration(story), S.fold.computed(story), false);
      controls.seek(controls.t, true); // who follows the newest stays at the end, who looks at a moment stays there
      paint(true);
    }

    /** The recording of a first visit: only on a page on which nothing has happened. */
    function recording(batch) {
      if (mode === "empty" && !expecting) open(batch.events, batch.meta || null);
    }

    /**
     * Open a recording: labelled as one, at lane time `at` if that is given, else played at
     * true speed unless motion is unwelcome. False while a race is running, which it would hide.
     */
    function open(events, about, at) {
      if (mode === "live" || expecting) return false;
      begin("recording");
      meta = about;
      seen = { run: events[0].id, done: true, past: left(), asked: -Infinity };
      S.fold.add(story, events);
      notice();
      if (desk) desk.begun();
      controls.setLength(S.fold.duration(story), S.fold.computed(story), false);
      const still = root.matchMedia && root.matchMedia("(prefers-reduced-motion: reduce)").matches;
      const placed = Number.isFinite(at);
      controls.seek(placed ? at : still ? Infinity : 0);
      paint(true);
      if (!placed && !still) controls.start();
      announce(say("status.opened", { title: titled() }));
      return true;
    }

    /** What the run is called: a bundled recording's title in the reader's language, else its own, else its prompt. */
    function titled() {
      const run = story.run;
      if (!run) return "";
      const own = meta && meta.title ? meta.title[language] || meta.title.en : "";
      return String(own || (mode === "recording" && run.title) || run.prompt).replace(/\s+/g, " ");
    }

    /** The moment has changed: lanes and cursors at once, what is costly when the hand rests. */
    function moved() {
      if (!controls.playing) tokens.hide();
      clearTimeout(settling);
      // Nothing moves on from the end: what is shown there is whole at once.
      if (controls.t === Infinity) return paint(true);
      paint(false);
      settling = setTimeout(() => paint(true), SETTLE);
      if (controls.playing && performance.now() - heavyAt > 2 * SETTLE) paint(true);
    }

    /** Look at a step of a lane, as if it had been clicked; -1 follows the newest. */
    function look(key, index) {
      if (!story.lanes.has(key)) return;
      chosen = key;
      peeked = null;
      pinned = index < 0 ? null : { key, index };
      paint(true);
      if (pinned) cards.get(key).reveal(index);
    }

    // ---- drawing -------------------------------------------------------------------

    /** While live: texts and figures a few times a second, tree and charts less often, nothing behind another tab. */
    function live() {
      if (!lightTimer) {
        const wait = lightAt + LIGHT - performance.now();
        if (wait <= 0) lightly();
        else lightTimer = setTimeout(lightly, wait);
      }
      later();
    }

    function lightly() {
      lightTimer = 0;
      lightAt = performance.now();
      if (!document.hidden) paint(false);
    }

    function later() {
      if (heavyTimer) return;
      const wait = Math.max(0, heavyAt + HEAVY - performance.now());
      heavyTimer = setTimeout(() => {
        heavyTimer = 0;
        heavyAt = performance.now();
        if (!document.hidden) paint(true);
      }, wait);
    }

    function paint(heavy) {
      if (mode === "empty") return;
      const state = S.fold.at(story, controls.t), newest = mode === "live" && controls.t === Infinity;
      const fresh = state.lanes.length !== cards.size;
      if (fresh) addCards(state);
      const asked = (story.run && story.run.settings) || {};
      for (const lane of state.lanes) {
        // A lane that nothing has happened to since it was last drawn is left alone.
        const known = story.lanes.get(lane.key), stamp = newest ? known.count : -1;
        if (heavy || stamp < 0 || stamp !== cards.get(lane.key).stamp) cards.get(lane.key).show(known, lane, say, heavy || !newest, asked);
        cards.get(lane.key).stamp = stamp;
      }
      const told = mode === "live" ? finished(state) : [];
      if (told.length) announce(told.join(" "));
      if (heavy || fresh) paintHeavy(state);
      else if (!newest) for (const view of [chart, timeline]) view.moment(controls.t);
      tokens.settle();
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
        const result = S.resultCard();
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
      for (const view of [chart, timeline]) {
        view.lines(story, say);
        view.moment(controls.t);
      }
      S.frame.dress(parts, story);
      closeup.draw();
      if (mode === "live") controls.setLength(S.fold.duration(story), S.fold.computed(story), true);
    }

    /** What the close-up charts draw: the run, the moment, the step that is looked at. */
    function scene() {
      if (mode === "empty" || !story.order.length) return null;
      const state = S.fold.at(story, controls.t), { key, index } = looked(state);
      const lane = story.lanes.get(key), step = index >= 0 ? lane.steps[index] : null;
      const names = Object.fromEntries(story.order.map((one) => [one, S.draw.laneName(say, one)]));
      return {
        story, state, names, lane, step, run: seen.run, t: controls.t, laneName: names[key], steps: state.lanes.find((one) => one.key === key).steps,
        wrote: step && step.tokens.length > step.accepted ? step.tokens.length - 1 : -1, stamp: [story.count, controls.t, key, index].join(),
      };
    }

    /** Whether a step that is pointed at or picked is there at this moment. */
    const written = (state, pick) => Boolean(pick) && state.lanes.some((lane) => lane.key === pick.key && pick.index < lane.steps);

    /** Which step is looked at: hovered, else picked, else the newest of the chosen lane. */
    function looked(state) {
      for (const pick of [peeked, pinned]) if (written(state, pick)) return pick;
      const lane = state.lanes.find((one) => one.key === chosen);
      return { key: chosen, index: lane ? lane.steps - 1 : -1 };
    }

    function paintStep(state) {
      const { key, index } = looked(state), held = written(state, pinned) ? pinned : {};
      for (const [name, card] of cards) {
        card.chosen(name === key);
        card.mark(name === key ? index : -1, name === held.key ? held.index : -1);
      }
      if (!pinned) passFocus(parts.follow, tree.root);
      parts.follow.hidden = !pinned;
      const moving = ((mode === "live" && controls.t === Infinity) || controls.playing) && !pinned && !peeked;
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
      put(parts.prompt, titled());
      const told = meta && meta.about ? meta.about[language] || meta.about.en : "";
      put(parts.about, told);
      if (parts.about.hidden === Boolean(told)) parts.about.hidden = !told;
      if (parts.prompt.title !== run.prompt) parts.prompt.title = run.prompt;
      put(parts.whole, run.prompt);
      const model = run.model || {};
      const device = [String(model.device || "").toUpperCase(), model.device_name].filter(Boolean).map(String);
      const facts = [model.name, device.length > 1 && device[0] !== device[1] ? `${device[0]} (${device[1]})` : device[0], model.dtype];
      if (mode === "recording") facts.push(say("strip.recorded", { date: S.words.day(run.date, language) }));
      put(parts.meta, facts.filter(Boolean).join(" · "));
    }

    // ---- words ---------------------------------------------------------------------

    /** `words` gives what is to be said, in the language of the moment; nothing takes the notice away. */
    function notice(words, kind) {
      noticed = { words: words || (() => ""), kind: kind || "" };
      const text = drawNotice();
      if (text) announce(text);
    }

    function drawNotice() {
      const text = noticed.words();
      put(parts.notice, text);
      parts.notice.hidden = !text;
      parts.notice.dataset.kind = noticed.kind;
      return text;
    }

    function announce(text) {
      parts.status.textContent = text;
    }

    /** A sentence for each lane that has finished and was not told of. */
    function finished(state) {
      const lanes = state.lanes.filter((lane) => lane.finished && !announced.has(lane.key));
      for (const lane of lanes) announced.add(lane.key);
      return lanes.map((lane) => say("status.lane", { lane: S.draw.laneName(say, lane.key), seconds: S.words.tenths(lane.clock), tokens: lane.tokens }));
    }

    /** What the node of the tree is that the keys are at; "" when they have left it. */
    function walked(words) {
      put(parts.treeHow, words || say("tree.how"));
      if (words) announce(words);
    }

    /** Show the whole prompt below its beginning, or hide it again. */
    function openPrompt(on) {
      parts.whole.hidden = !on;
      parts.ask.setAttribute("aria-expanded", String(on));
    }

    /** Let go what is shown of a token, else the step that was picked; false where there is neither. */
    function dismiss() {
      if (tokens.hide()) return true;
      if (!pinned) return false;
      hooks.pick(chosen);
      return true;
    }

    function setLanguage(next, code) {
      say = next;
      language = code;
      treeShown = "";
      S.frame.label(parts, say);
      controls.language(say);
      closeup.label(say);
      if (desk) desk.label(say, language);
      drawNotice();
      for (const [key, card] of cards) card.label(story.lanes.get(key), say);
      paint(true);
    }

    setLanguage(say, language);
    controls.setLength(0, 0, false);
    const made = {
      receive, recording, stop, ended, lost, dismiss, notice, announce, setLanguage, cost,
      hint(text) { put(parts.hint, text); },
      expect() { expecting = true; },
      /** Everything as it is now, without waiting. */
      draw: () => paint(true),
      open, look, parts,
      /** The card of a lane, for what points at it. */
      card: (key) => cards.get(key) || null,
      /** A number that two players share only if they show the same. */
      hash: () => S.fold.hash(story, controls.t),
      get mode() { return mode; },
      get meta() { return meta; },
      get cutOff() { return cutOff; },
      get story() { return story; },
      controls,
    };
    desk = S.desk(made, outside || {});
    desk.label(say, language);
    return Object.assign(made, { desk });
  }

  /** What happened in a step, in one sentence. Pure. */
  S.stepSentence = function stepSentence(step, lane, say) {
    if (!step) return say("say.start");
    const values = { lane, f: step.index + 1, drafted: step.drafted, accepted: step.accepted, tokens: S.words.counted(say, step.tokens.length) };
    const rode = step.branch > 0 ? " " + say("say.branch") : "";
    if (step.accepted > 0) return say(step.accepted < step.tokens.length ? "say.agreed" : "say.last", values) + rode;
    if (step.drafted > 0) return say("say.none", values) + rode;
    return say(step.index === 0 ? "say.first" : "say.plain", values) + rode;
  };

  S.player = player;
})(typeof globalThis !== "undefined" ? globalThis : this);

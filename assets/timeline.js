/* What each lane's clock was spent on, a row a lane; the draft below the thinking it rides with. */
(function (root) {
  "use strict";
  const S = (root.Slipstream = root.Slipstream || {});
  const { svg, set, el, put, laneName, textWidth, tickStep } = S.draw;
  const KINDS = ["prefill", "thinking", "verify", "answer"];
  const BAR = 18, DRAFT = 6, GAP = 3, PAD = 4; // pixels

  /** A bar in words: what it is, from when to when, how long. Pure. */
  S.spanWords = function spanWords(lane, span, say) {
    const values = { lane, from: S.words.seconds(span.start), to: S.words.seconds(span.end), n: S.words.seconds(span.end - span.start) };
    if (span.id) return say("time.draft", { ...values, id: span.id, at: span.openedAt, tokens: span.written });
    return say("time." + span.kind, values);
  };

  /** A lane's row in words: the sum its bars make. Pure. */
  S.rowWords = function rowWords(lane, spans, say) {
    const sums = KINDS.map((kind) => [kind, spans.filter((span) => span.kind === kind).reduce((sum, span) => sum + span.end - span.start, 0)]);
    const items = sums.filter(([, seconds]) => seconds > 0).map(([kind, seconds]) => say("unit.part", { part: say("span." + kind), n: S.words.seconds(seconds) }));
    return say("time.row", { lane, parts: items.join(" + "), n: S.words.seconds(spans.length ? spans[spans.length - 1].end : 0) });
  };

  /** Words to point at: the row or bar under the mouse, or the one reached by key (`words(at, true)`). */
  function pointing(image, words) {
    const told = (target) => {
      const bar = target.closest ? target.closest("[data-kind]") : null, row = target.closest ? target.closest(".lane-row") : null;
      words(row ? { row: row.row, bar: bar ? bar.bar : null } : null);
    };
    image.addEventListener("mouseover", (event) => told(event.target));
    image.addEventListener("mouseleave", () => words(null));
    image.addEventListener("focusin", (event) => told(event.target));
    image.addEventListener("focusout", () => words(null));
    image.addEventListener("keydown", (event) => {
      const move = S.keys.move(event), row = event.target.row;
      if (!move || !row) return;
      event.preventDefault();
      const bars = row.spans.concat(row.drafts);
      row.at = Math.max(0, Math.min(bars.length - 1, (row.at === undefined ? (move > 0 ? -1 : bars.length) : row.at) + move));
      words({ row, bar: bars[row.at] }, true);
    });
  }

  /** Draws the timeline into `panel`; `announce(words)` is for what is reached by key. */
  function timelineView(panel, announce) {
    const legend = el("div", "time-legend"), image = svg("svg", { class: "timeline" }), told = el("p", "time-say");
    image.append(hatch());
    const axis = svg("g", { class: "axes" }), rows = svg("g", {}), veil = svg("rect", { class: "veil", y: 0 }), cursor = svg("line", { class: "cursor", y1: 0 });
    image.append(axis, rows, veil, cursor);
    panel.append(legend, image, told);
    let W = 0, scale = null, drawn = "", say = null, pointed = null;
    const made = new Map();
    pointing(image, (at, byKey) => {
      pointed = at;
      speak();
      if (byKey) announce(told.textContent);
    });

    function speak() {
      if (!say) return;
      put(told, !pointed ? say("time.how") : pointed.bar ? S.spanWords(pointed.row.name, pointed.bar, say) : S.rowWords(pointed.row.name, pointed.row.spans, say));
    }

    /** All bars: only where the events have changed. */
    function lines(story, next) {
      if (!W) W = Math.max(280, image.clientWidth || 900);
      const stamp = [story.count, W, next("timeline")].join();
      if (stamp === drawn) return;
      if (next !== say) label((say = next));
      drawn = stamp;
      const narrow = W < 560, names = story.order.map((key) => laneName(say, key));
      const left = narrow ? 2 : 14 + Math.max(...names.map(textWidth)), right = narrow ? 2 : 100;
      const seconds = Math.max(S.fold.duration(story), 0.1);
      scale = (time) => left + (time / seconds) * (W - left - right);
      let y = PAD;
      story.order.forEach((key, place) => {
        const row = made.get(key) || makeRow(key, place);
        y = drawRow(row, story, names[place], { y, left, narrow });
      });
      drawAxis(seconds, y, narrow);
      legend.classList.toggle("plain", !S.phases.thinks(story));
      speak();
    }

    function makeRow(key, place) {
      const group = svg("g", { class: "lane-row", tabindex: 0, role: "img" });
      const row = { key, group, spans: [], drafts: [], name: "" };
      group.row = row;
      row.hit = svg("rect", { class: "hit", x: 0 });
      row.label = svg("text", { class: "name name-" + (place % 6) });
      row.end = svg("text", { class: "end" });
      const bars = svg("g", {}), thin = svg("g", {}), words = svg("g", { class: "in" });
      row.bars = S.draw.pool(bars, () => ({ root: svg("rect", {}) }));
      row.thin = S.draw.pool(thin, () => ({ root: svg("rect", { class: "span draft", rx: 2, height: DRAFT, "data-kind": "draft" }) }));
      row.words = S.draw.pool(words, () => ({ root: svg("text", {}) }));
      row.first = svg("path", { class: "first" });
      group.append(row.hit, row.label, bars, thin, words, row.first, row.end);
      rows.appendChild(group);
      made.set(key, row);
      return row;
    }

    /** One lane's bars from `y` down; returns where the next row begins. */
    function drawRow(row, story, name, { y, left, narrow }) {
      const lane = story.lanes.get(row.key);
      row.name = name;
      row.spans = S.fold.spans(lane);
      row.drafts = S.phases.draftSpans(lane);
      const top = y + (narrow ? 18 : 0) + 9, height = (row.drafts.length || S.phases.thinks(story) ? DRAFT + GAP : 0) + BAR + 12;
      set(row.hit, { y, width: W, height: top + height - y });
      set(row.label, { x: narrow ? left : 0, y: narrow ? y + 13 : top + BAR / 2 + 4 });
      put(row.label, name);
      set(row.group, { "aria-label": S.rowWords(name, row.spans, say) });
      drawBars(row, top);
      drawMarks(row, lane, story, top, narrow);
      return top + height;
    }

    function drawBars(row, top) {
      row.bars.start();
      row.words.start();
      for (const span of row.spans) {
        const x = scale(span.start), width = scale(span.end) - x, grown = span.kind === "verify" ? 4 : 0;
        const rect = row.bars.next().root;
        rect.bar = span;
        set(rect, { class: "span " + span.kind, "data-kind": span.kind, x: round(x), y: top - grown, height: BAR + 2 * grown, width: round(Math.max(width, grown ? 3 : 0.8)) });
        const words = say("span." + span.kind);
        if (span.kind === "verify" || width < textWidth(words) + 12) continue;
        put(set(row.words.next().root, { class: span.kind, x: round(x + 7), y: top + BAR / 2 + 4 }), words);
      }
      row.bars.end();
      row.words.end();
      row.thin.start();
      for (const draft of row.drafts) {
        const rect = row.thin.next().root;
        rect.bar = draft;
        // A hair of room between drafts, so that each is seen to be one.
        set(rect, { x: round(scale(draft.start)), y: top + BAR + GAP, width: round(Math.max(2, scale(draft.end) - scale(draft.start) - 1.5)) });
      }
      row.thin.end();
    }

    /** A notch at the first answer token, and the lane's seconds behind its end. */
    function drawMarks(row, lane, story, top, narrow) {
      const first = S.phases.firstAnswer(lane), whole = S.fold.laneEnd(lane);
      const x = first === null ? -20 : round(scale(first));
      set(row.first, { d: `M${x} ${top - 1}l-4.5 -7h9z` });
      const words = endWords(lane, story, whole);
      const at = scale(whole) + 8;
      set(row.end, narrow ? { x: W - 2, y: top - 14, "text-anchor": "end" } : { x: round(at), y: top + BAR / 2 + 4, "text-anchor": "start" });
      put(row.end, words);
    }

    /** "8.11 s · −24%": the share of vanilla's time saved is said once both are done with the same text. */
    function endWords(lane, story, whole) {
      if (!whole) return "";
      const words = say("unit.seconds", { n: S.words.tenths(whole) }), vanilla = story.lanes.get("vanilla");
      const fair = vanilla && vanilla !== lane && lane.finish && vanilla.finish && lane.compare && lane.compare.identical && lane.compare.complete;
      if (!fair) return words;
      const saved = Math.round((1 - whole / S.fold.laneEnd(vanilla)) * 100);
      return saved ? words + " · " + (saved < 0 ? "+" : "−") + Math.abs(saved) + "%" : words;
    }

    function drawAxis(seconds, y, narrow) {
      const every = tickStep(seconds, narrow ? 3 : 8), unit = say("chart.seconds"), parts = [];
      for (let i = 0; i * every <= seconds; i += 1) {
        const x = round(scale(i * every));
        parts.push(svg("line", { x1: x, x2: x, y1: PAD, y2: y }));
        const anchor = narrow && i === 0 ? "start" : "middle";
        if (i && x > W - textWidth(unit) - 16) continue; // the line says it; the number would lie in the unit
        parts.push(svg("text", { x, y: y + 14, "text-anchor": anchor }, String(Number((i * every).toPrecision(3)))));
      }
      parts.push(svg("text", { x: W - 2, y: y + 14, "text-anchor": "end", class: "unit" }, unit));
      axis.replaceChildren(...parts);
      set(image, { viewBox: `0 0 ${W} ${y + 20}`, height: y + 20, role: "group", "aria-label": say("timeline") });
      set(veil, { height: y });
      set(cursor, { y2: y });
    }

    /** The player's time: what is still to come lies under a veil. */
    function moment(t) {
      if (!scale) return;
      const x = Number.isFinite(t) ? round(scale(t)) : W;
      set(veil, { x, width: Math.max(0, round(W - x)) });
      set(cursor, { x1: x, x2: x, class: Number.isFinite(t) ? "cursor" : "cursor none" });
    }

    function label() {
      const items = [...KINDS, "draft", "first"].map((kind) => {
        const item = el("span", "key " + kind);
        item.append(el("span", "dab"), el("span", "", say("span." + kind)));
        return item;
      });
      legend.replaceChildren(...items);
    }

    /** Forget the rows: another run has begun. */
    function clear() {
      made.clear();
      rows.replaceChildren();
      drawn = "";
      pointed = null;
    }
    return { lines, moment, clear, measure: () => { W = 0; drawn = ""; } };
  }

  const round = (value) => Math.round(value * 10) / 10;

  /** Thinking is hatched, so that it is told apart without its colour. */
  function hatch() {
    const defs = svg("defs", {}), pattern = svg("pattern", { id: "slip-hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
    pattern.append(svg("rect", { width: 6, height: 6, class: "hatch-paper" }), svg("line", { x1: 0, y1: 0, x2: 0, y2: 6, class: "hatch-line" }));
    defs.appendChild(pattern);
    return defs;
  }

  S.timelineView = timelineView;
})(typeof globalThis !== "undefined" ? globalThis : this);

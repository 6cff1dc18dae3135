/* Tokens over lane time, one line a lane. */
(function (root) {
  "use strict";
  const S = (root.Slipstream = root.Slipstream || {});
  const { svg, tickStep, laneName, textWidth } = S.draw;

  /** Tokens over lane time, one line a lane; up to `now` drawn strong, what comes later faint. */
  function chartView(panel) {
    const H = 300, L = 42, T = 10, B = 36, LABEL = 16, SWATCH = 22;
    let W = 620, R = 96; // the room there is, and of it the room for names, so that letters keep their size
    const image = svg("svg", { class: "chart", role: "img", height: H });
    const clip = svg("rect", { x: 0, y: 0, width: W, height: H });
    const clipId = "slip-clip-" + Math.random().toString(36).slice(2);
    const path = svg("clipPath", { id: clipId });
    path.appendChild(clip);
    const axes = svg("g", { class: "axes" }), later = svg("g", { class: "later" }), past = svg("g", { "clip-path": `url(#${clipId})` });
    const names = svg("g", { class: "names" });
    const cursor = svg("line", { class: "cursor", y1: T, y2: H - B });
    image.append(path, axes, later, past, cursor, names);
    panel.appendChild(image);
    let drawn = "", scaleX = null, measured = 0;

    /** The whole lines: only where the events have changed. */
    function lines(story, say) {
      const seconds = Math.max(S.fold.duration(story), 0.1) * 1.02;
      const tokens = Math.max(8, ...story.order.map((key) => story.lanes.get(key).tokens.at(-1) || 0)) * 1.06;
      if (!measured) W = Math.max(280, (measured = image.clientWidth) || W);
      const labels = story.order.map((key) => S.words.shortened(laneName(say, key), W < 450 ? 13 : 22));
      R = SWATCH + 12 + Math.max(...labels.map(textWidth));
      const x = (value) => L + (value / seconds) * (W - L - R), y = (value) => H - B - (value / tokens) * (H - B - T);
      const stamp = [story.count, seconds, tokens, say("chart.seconds"), W].join();
      scaleX = x;
      if (stamp === drawn) return;
      drawn = stamp;
      image.setAttribute("viewBox", `0 0 ${W} ${H}`);
      axes.replaceChildren(...ticks(seconds, tokens, x, y, say));
      const ends = [];
      const shapes = story.order.map((key, place) => {
        const lane = story.lanes.get(key);
        ends.push({ place, y: y(lane.tokens.at(-1) || 0), x: x(lane.ends.at(-1) || 0), label: labels[place] });
        return svg("path", { class: "line lane-" + (place % 6), d: curve(lane, x, y) });
      });
      past.replaceChildren(...shapes);
      later.replaceChildren(...shapes.map((shape) => shape.cloneNode()));
      names.replaceChildren(...endLabels(ends));
      image.setAttribute("aria-label", say("chart") + ": " + ends.map((end) => end.label).join(", "));
    }

    /** Names in the margin, each with a piece of its line, in the order in which the lines end and apart. */
    function endLabels(ends) {
      ends.sort((a, b) => a.y - b.y || a.x - b.x);
      const rows = S.draw.spread(ends.map((end) => Math.max(end.y, T + 6)), LABEL, H - B);
      return ends.flatMap((end, i) => [
        svg("path", { class: "line lane-" + (end.place % 6), d: `M${W - R + 8} ${rows[i]}h${SWATCH - 6}` }),
        svg("text", { class: "name-" + (end.place % 6), x: W - R + SWATCH + 8, y: rows[i] + 4 }, end.label),
      ]);
    }

    function moment(t) {
      if (!scaleX) return;
      const x = Number.isFinite(t) ? Math.min(scaleX(t), W - R) : W;
      clip.setAttribute("width", Math.max(0, x));
      cursor.setAttribute("x1", x);
      cursor.setAttribute("x2", x);
      cursor.style.display = Number.isFinite(t) ? "" : "none";
    }

    function ticks(seconds, tokens, x, y, say) {
      const parts = [];
      const down = tickStep(tokens, 4), across = tickStep(seconds, W < 450 ? 3 : 5);
      for (let value = 0; value <= tokens; value += down) {
        parts.push(svg("line", { x1: L, x2: W - R, y1: y(value), y2: y(value) }));
        parts.push(svg("text", { x: L - 7, y: y(value) + 4, "text-anchor": "end" }, String(Math.round(value))));
      }
      for (let i = 0; i * across <= seconds; i += 1) {
        const value = i * across;
        parts.push(svg("text", { x: x(value), y: H - B + 16, "text-anchor": "middle" }, String(Number(value.toPrecision(3)))));
      }
      parts.push(svg("text", { class: "unit", x: W - R, y: H - 3, "text-anchor": "end" }, say("chart.seconds")));
      parts.push(svg("text", { class: "unit", x: L + 6, y: T + 8 }, say("chart.tokens")));
      return parts;
    }

    /** A staircase thinned to at most about 200 corners. */
    function curve(lane, x, y) {
      const every = Math.max(1, Math.ceil(lane.ends.length / 200));
      const start = lane.steps.length ? lane.steps[0].start : 0;
      let d = `M${x(0).toFixed(1)} ${y(0).toFixed(1)}H${x(start).toFixed(1)}`;
      for (let i = 0; i < lane.ends.length; i += 1) {
        if (i % every && i !== lane.ends.length - 1) continue;
        d += `L${x(lane.ends[i]).toFixed(1)} ${y(lane.tokens[i]).toFixed(1)}`;
      }
      return d;
    }
    return { lines, moment, measure: () => { measured = 0; } };
  }

  S.chartView = chartView;
})(typeof globalThis !== "undefined" ? globalThis : this);

/* Charts to be read closely, drawn by Plotly: they zoom, pan, tell what is pointed at, and follow the player's time. */
(function (root) {
  "use strict";
  const S = (root.Slipstream = root.Slipstream || {});
  const { el, put } = S.draw;
  const SOURCES = ["retrieval", "logits", "both", "prefix", "suffix"];
  const DASHES = ["solid", "solid", "dash", "dot", "dashdot", "longdash"];
  const SYMBOLS = { root: "square", bonus: "circle-open", retrieval: "circle", logits: "diamond", both: "star", prefix: "triangle-up", suffix: "triangle-down", target: "circle-open" };
  const TABS = ["tree", "timeline", "tokens", "lengths", "sources", "memory"];

  // ---- figures, without a page ----------------------------------------------------

  /** How many forwards of the first `n` gave 1, 2, 3, … tokens. Pure. */
  function lengths(lane, n) {
    const counts = [];
    for (const step of lane.steps.slice(0, n)) counts[step.tokens.length] = (counts[step.tokens.length] || 0) + 1;
    return Array.from(counts, (count) => count || 0).slice(1);
  }

  /** Of the first `n` forwards' trees: guesses made and accepted, by source, at each depth from 1. Pure. */
  function bySource(lane, n) {
    const found = {};
    for (const { tree } of lane.steps.slice(0, n)) {
      if (!tree) continue;
      const depth = [0], path = new Set(tree.path);
      for (let i = 1; i < tree.parents.length; i += 1) {
        depth[i] = depth[tree.parents[i]] + 1;
        const sums = found[tree.sources[i]] || (found[tree.sources[i]] = { drafted: [], accepted: [] });
        sums.drafted[depth[i] - 1] = (sums.drafted[depth[i] - 1] || 0) + 1;
        if (path.has(i)) sums.accepted[depth[i] - 1] = (sums.accepted[depth[i] - 1] || 0) + 1;
      }
    }
    for (const sums of Object.values(found)) for (const name of ["drafted", "accepted"]) sums[name] = Array.from({ length: sums.drafted.length }, (_, i) => sums[name][i] || 0);
    return found;
  }

  /** What a lane's drafter remembered when each of its first `n` forwards had ended. Pure. */
  function memory(lane, n) {
    const steps = lane.steps.slice(0, n).map((step, i) => ({ step, end: lane.ends[i] })).filter(({ step }) => (step.memory || []).length === 3);
    return { times: steps.map(({ end }) => end), held: steps.map(({ step }) => step.memory[0]), forgotten: steps.map(({ step }) => step.memory[1]), known: steps.map(({ step }) => step.memory[2]) };
  }

  // ---- traces ----------------------------------------------------------------------

  /** The page's colours, as Plotly takes them. */
  function colours(node) {
    const style = getComputedStyle(node), of = (name) => style.getPropertyValue("--" + name).trim();
    const found = { lanes: [0, 1, 2, 3, 4, 5].map((i) => of("lane-" + i)) };
    for (const name of ["paper", "card", "ink", "dim", "line", "line-strong", "faint", "verify", ...SOURCES]) found[name] = of(name);
    return found;
  }

  function treeTraces({ step, wrote, say, ink }) {
    if (!step || !step.tree) return [];
    const place = S.tree.layout(step.tree, wrote < 0 ? null : step.pieces[wrote]);
    const line = (edges, color, width) => ({
      type: "scatter", mode: "lines", hoverinfo: "skip", showlegend: false, line: { color, width, shape: "spline", smoothing: 0.6 },
      x: edges.flatMap((edge) => [edge.x1, edge.x2, null]), y: edges.flatMap((edge) => [-edge.y1, -edge.y2, null]),
    });
    const kinds = [...new Set(place.nodes.map((node) => node.source))];
    const nodes = kinds.map((source) => {
      const own = place.nodes.filter((node) => node.source === source);
      return {
        type: "scatter", mode: "markers+text", name: say(source === "root" || source === "bonus" ? "tree." + source : "source." + source),
        x: own.map((node) => node.x + node.width / 2), y: own.map((node) => -node.y), text: own.map((node) => plain(node.label)), textposition: "top center",
        textfont: { color: own.map((node) => (node.accepted ? ink.ink : ink.dim)) }, hovertext: own.map((node) => plain(S.nodeTitle(node, { tree: step.tree, step, wrote, say }))), hoverinfo: "text",
        marker: { symbol: SYMBOLS[source] || "circle", size: own.map((node) => (node.accepted ? 13 : 9)), color: ink[source] || ink.ink, opacity: own.map((node) => (node.accepted ? 1 : 0.45)), line: { color: ink.ink, width: own.map((node) => (node.accepted ? 1.5 : 0)) } },
      };
    });
    return [line(place.edges.filter((edge) => !edge.accepted), ink["line-strong"], 1), line(place.edges.filter((edge) => edge.accepted), ink.ink, 3), ...nodes];
  }

  function timelineTraces({ story, names, say, ink }) {
    const bars = story.order.flatMap((key) => S.fold.spans(story.lanes.get(key)).map((span) => ({ ...span, key })));
    const drafts = story.order.flatMap((key) => S.phases.draftSpans(story.lanes.get(key)).map((span) => ({ ...span, kind: "draft", key })));
    const fill = { prefill: ink.faint, thinking: ink["line-strong"], verify: ink.verify, answer: ink.ink, draft: ink.prefix };
    const shape = { thinking: "/", draft: "." };
    return ["prefill", "thinking", "verify", "answer", "draft"].map((kind) => {
      const own = (kind === "draft" ? drafts : bars).filter((span) => span.kind === kind);
      return {
        type: "bar", orientation: "h", name: say("span." + kind), y: own.map((span) => plain(names[span.key]) + (kind === "draft" ? " ·" : "")), base: own.map((span) => span.start), x: own.map((span) => span.end - span.start),
        hovertext: own.map((span) => plain(S.spanWords(names[span.key], span, say))), hoverinfo: "text", marker: { color: fill[kind], pattern: { shape: shape[kind] || "", fgcolor: ink.card, size: 6 } },
      };
    }).filter((trace) => trace.x.length);
  }

  function tokensTraces({ story, names, ink }) {
    return story.order.map((key, place) => {
      const lane = story.lanes.get(key);
      return { type: "scatter", mode: "lines", name: plain(names[key]), x: [0, ...lane.ends], y: [0, ...lane.tokens], line: { color: ink.lanes[place % 6], dash: DASHES[place % 6], width: 2.4, shape: "hv" } };
    });
  }

  function lengthsTraces({ story, state, names, ink }) {
    return story.order.map((key, place) => {
      const counts = lengths(story.lanes.get(key), state.lanes[place].steps);
      return { type: "bar", name: plain(names[key]), x: counts.map((_, i) => i + 1), y: counts, marker: { color: ink.lanes[place % 6], pattern: { shape: ["", "", "/", ".", "x", "-"][place % 6], fgcolor: ink.card } } };
    });
  }

  function sourcesTraces({ lane, steps, say, ink }) {
    const found = bySource(lane, steps);
    return SOURCES.filter((source) => found[source]).flatMap((source) => {
      const { drafted, accepted } = found[source], depths = drafted.map((_, i) => i + 1), name = say("source." + source);
      const bar = (words, y, opacity) => ({ type: "bar", name: `${name}: ${words}`, offsetgroup: source, legendgroup: source, x: depths, y, marker: { color: ink[source], opacity, pattern: { shape: opacity < 1 ? "/" : "", fgcolor: ink.card } } });
      return [bar(say("node.accepted"), accepted, 1), bar(say("node.rejected"), drafted.map((n, i) => n - accepted[i]), 0.4)];
    });
  }

  function memoryTraces({ story, state, names, say, ink }) {
    return story.order.flatMap((key, place) => {
      const { times, held, forgotten, known } = memory(story.lanes.get(key), state.lanes[place].steps);
      if (!times.length) return [];
      const line = (what, y, dash) => ({ type: "scatter", mode: "lines", name: `${plain(names[key])}: ${say("closeup.memory." + what)}`, x: times, y, line: { color: ink.lanes[place % 6], dash, width: 2 } });
      return [line("held", held, "solid"), line("known", known, "dash"), line("forgotten", forgotten, "dot")];
    });
  }

  const TRACES = { tree: treeTraces, timeline: timelineTraces, tokens: tokensTraces, lengths: lengthsTraces, sources: sourcesTraces, memory: memoryTraces };

  /** Plotly reads a few tags in its texts; a model's text is text, and so is a lane's name in a file. Pure. */
  const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

  function layoutOf(tab, say, ink, { run, t, names }) {
    const axis = (title) => ({ title: { text: title, font: { size: 12 } }, gridcolor: ink.line, zerolinecolor: ink.line, linecolor: ink["line-strong"], automargin: true });
    const titles = { timeline: ["chart.seconds", ""], tokens: ["chart.seconds", "chart.tokens"], lengths: ["closeup.lengths.x", "closeup.forwards"], sources: ["closeup.depth", "closeup.guesses"], memory: ["chart.seconds", "closeup.entries"] };
    const [x, y] = titles[tab] || ["", ""];
    const layout = {
      paper_bgcolor: ink.card, plot_bgcolor: ink.card, font: { color: ink.ink, family: "system-ui, 'Noto Sans CJK KR', sans-serif", size: 13 }, margin: { l: 50, r: 16, t: 8, b: 44 },
      xaxis: axis(x ? say(x) : ""), yaxis: axis(y ? say(y) : ""), legend: { orientation: "h", y: -0.22 }, hoverlabel: { align: "left", namelength: -1, bgcolor: ink.paper, font: { color: ink.ink } },
      // The same run keeps its zoom whatever is drawn anew.
      uirevision: run + tab, barmode: tab === "timeline" ? "overlay" : tab === "sources" ? "stack" : "group", showlegend: true, shapes: [],
    };
    if (tab === "tree") for (const name of ["xaxis", "yaxis"]) Object.assign(layout[name], { visible: false });
    if (tab === "tree") layout.dragmode = "pan";
    if (tab === "timeline") Object.assign(layout.yaxis, { autorange: "reversed", categoryorder: "array", categoryarray: Object.values(names).map(plain).flatMap((name) => [name, name + " ·"]) });
    if (tab === "lengths" || tab === "sources") Object.assign(layout.xaxis, { dtick: 1, tick0: 1 });
    if ((tab === "timeline" || tab === "tokens") && Number.isFinite(t)) layout.shapes = [{ type: "line", x0: t, x1: t, y0: 0, y1: 1, yref: "paper", line: { color: ink.dim, width: 1.5, dash: "dot" } }];
    return layout;
  }

  // ---- the panel -------------------------------------------------------------------

  const scripts = new Map();
  /** Load a classic script once; resolves with what `found` then gives. */
  S.loaded = function loaded(address, found) {
    if (!scripts.has(address)) {
      scripts.set(address, new Promise((resolve, reject) => {
        const script = el("script");
        script.src = address;
        script.addEventListener("load", () => resolve(found()));
        script.addEventListener("error", () => {
          scripts.delete(address);
          reject(new Error(address + " cannot be loaded"));
        });
        document.head.appendChild(script);
      }));
    }
    return scripts.get(address);
  };

  /** The close-up panel in `parent`. `load()` resolves with Plotly; `scene()` tells what there is to draw. */
  function view(parent, load, scene) {
    const panel = el("section", "panel closeup"), head = el("div", "panel-head"), title = el("h2", ""), open = el("button", "toggle"), body = el("div", ""), tabs = el("div", "closeup-tabs"), plot = el("div", "closeup-plot"), note = el("p", "how");
    open.type = "button";
    open.setAttribute("aria-expanded", "false");
    tabs.setAttribute("role", "group");
    head.append(title, open);
    body.append(tabs, note, plot);
    body.hidden = true;
    panel.append(head, body);
    parent.appendChild(panel);
    let say = null, chosen = "tree", plotly = null, drawn = "", failed = false;

    async function toggle() {
      body.hidden = !body.hidden;
      open.setAttribute("aria-expanded", String(!body.hidden));
      label(say);
      if (body.hidden || plotly) return draw();
      note.textContent = say("closeup.loading");
      try {
        plotly = await load();
        failed = false;
      } catch (error) {
        console.warn(error);
        failed = true;
      }
      label(say);
      draw();
    }

    /** Draw what has changed, if the panel is open. */
    function draw() {
      if (body.hidden || !plotly) return;
      const now = scene();
      if (!now) return;
      const stamp = [now.run, now.stamp, chosen, say("closeup"), panel.closest(".dark") ? 1 : 0].join("|");
      if (stamp === drawn) return;
      drawn = stamp;
      const ink = colours(panel);
      const traces = TRACES[chosen]({ ...now, say, ink });
      note.textContent = say(traces.length ? "closeup." + chosen + ".how" : "closeup." + chosen + ".none", { lane: now.laneName });
      const drawing = plotly.react(plot, traces, layoutOf(chosen, say, ink, now), { displaylogo: false, responsive: true, modeBarButtonsToRemove: ["select2d", "lasso2d", "toImage", "autoScale2d"], scrollZoom: chosen === "tree" });
      drawing.catch((error) => console.warn(error));
    }

    open.addEventListener("click", () => toggle().catch((error) => console.warn(error)));
    tabs.append(...TABS.map((name) => {
      const tab = el("button", "toggle");
      tab.type = "button";
      tab.addEventListener("click", () => {
        chosen = name;
        label(say);
      });
      return tab;
    }));

    function label(next) {
      say = next;
      title.textContent = say("closeup");
      open.textContent = say(body.hidden ? "closeup.open" : "close");
      if (failed) note.textContent = say("closeup.failed");
      tabs.setAttribute("aria-label", say("closeup"));
      TABS.forEach((name, i) => {
        put(tabs.children[i], say("closeup." + name));
        tabs.children[i].setAttribute("aria-pressed", String(name === chosen));
      });
      draw();
    }
    return { draw, label };
  }

  S.closeup = { view, lengths, bySource, memory, plain, traces: TRACES, layoutOf };
})(typeof globalThis !== "undefined" ? globalThis : this);

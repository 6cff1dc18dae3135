/* One lane's card: name, clock, figures, text, badge. Text is only ever appended to or cut. */
(function (root) {
  "use strict";
  const S = (root.Slipstream = root.Slipstream || {});
  const { el } = S.draw;
  const CHUNK = 40; // tokens after which a line's end closes a block
  const REJECTED_SHOWN = 6;

  /** Set a text node only where it changed: an untouched node costs no layout. */
  function put(node, text) {
    if (node.data !== text) node.data = text;
  }

  function line(parent, className, tag) {
    const holder = el(tag || "span", className);
    const text = document.createTextNode("");
    holder.appendChild(text);
    parent.appendChild(holder);
    return { holder, text };
  }

  /**
   * The text of a lane. A step is a span, or several where a line ends inside it: a block
   * closes at a line's end, so that new text never has old lines laid out or painted again.
   */
  function textView(box) {
    const body = el("div", "text-body");
    box.appendChild(body);
    let shown = [], block = null, count = 0, phase = "", withRejected = false, marked = -1;

    /** Bring the text to exactly the first `n` steps. */
    function show(steps, n, say) {
      if (n < shown.length) cut(n);
      if (n <= shown.length) return;
      const fresh = document.createDocumentFragment(); // new blocks
      const tail = document.createDocumentFragment(); // what goes to the block already there
      const old = block;
      for (let i = shown.length; i < n; i += 1) {
        const step = steps[i];
        if (block && step.phase !== phase) block = null;
        const spans = [];
        const place = (span) => {
          if (!block) fresh.appendChild((block = opened(step.phase)));
          span.step = i;
          spans.push(span);
          (block === old ? tail : block).appendChild(span);
        };
        addStep(step, place);
        if (withRejected && step.tree) addRejected(step, place, say);
        if (!spans.length) place(el("span", "step"));
        shown.push(spans);
      }
      if (old) old.appendChild(tail);
      body.appendChild(fresh);
    }

    function opened(kind) {
      count = 0;
      phase = kind;
      return el("div", kind === "reasoning" ? "block thinking" : "block");
    }

    function addStep(step, place) {
      let span = null;
      const last = step.pieces.length - 1;
      step.pieces.forEach((piece, i) => {
        if (piece === "") return;
        if (last === 0) place((span = el("span", "step " + step.sources[i], piece)));
        else {
          if (!span) place((span = el("span", "step")));
          span.appendChild(el("span", step.sources[i], piece));
        }
        count += 1;
        if (count >= CHUNK && piece.endsWith("\n")) block = span = null;
      });
    }

    function addRejected(step, place, say) {
      const off = S.fold.rejected(step, REJECTED_SHOWN);
      if (!off.pieces.length) return;
      const holder = el("span", "step rejected");
      for (const guess of off.pieces) holder.appendChild(el("s", "", S.words.visible(guess.piece, 12)));
      if (off.more > 0) holder.appendChild(el("span", "", say("rejected.more", { n: off.more })));
      place(holder);
    }

    function cut(n) {
      while (shown.length > n) {
        for (const span of shown.pop()) {
          const parent = span.parentNode;
          span.remove();
          if (!parent.firstChild) parent.remove();
        }
      }
      block = body.lastChild;
      count = block ? block.querySelectorAll("span").length : 0;
      phase = block && block.classList.contains("thinking") ? "reasoning" : "answer";
      // A block whose line has ended stays closed, as it was when the text was first written.
      if (count >= CHUNK && block.textContent.endsWith("\n")) block = null;
      if (marked >= n) marked = -1;
    }

    function clear() {
      body.replaceChildren();
      shown = [];
      block = null;
      marked = -1;
      phase = "";
    }

    function setRejected(on) {
      if (on === withRejected) return;
      withRejected = on;
      clear();
    }

    /** Mark the step whose tree is shown. */
    function mark(index) {
      if (marked === index) return;
      if (marked >= 0 && shown[marked]) for (const span of shown[marked]) span.classList.remove("marked");
      marked = index >= 0 && shown[index] ? index : -1;
      if (marked >= 0) for (const span of shown[marked]) span.classList.add("marked");
    }

    return { show, clear, setRejected, mark, body, spanOf: (index) => shown[index] && shown[index][0] };
  }

  /** A lane's card. `hooks`: pick(key), step(key, index), peek(key, index or -1). */
  function laneCard(key, place, hooks) {
    const card = el("article", "lane lane-" + (place % 6));
    const head = el("div", "lane-head");
    const name = el("button", "lane-name");
    name.type = "button";
    const swatch = S.draw.svg("svg", { class: "swatch", viewBox: "0 0 18 6", width: 18, height: 6, "aria-hidden": "true" });
    swatch.appendChild(S.draw.svg("path", { class: "line lane-" + (place % 6), d: "M0 3h18" }));
    const title = document.createTextNode("");
    name.append(title, swatch);
    const idea = line(head, "idea", "div");
    head.insertBefore(name, idea.holder);
    const clock = line(head, "clock", "div");
    const figures = el("div", "figures");
    const tokens = line(figures, ""), rate = line(figures, ""), per = line(figures, "");
    head.appendChild(figures);
    const bar = el("div", "bar");
    const fill = el("div", "fill");
    bar.appendChild(fill);
    const box = el("div", "text");
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    const reading = line(box, "reading", "div");
    const text = textView(box);
    const foot = el("div", "foot");
    const badge = line(foot, "badge", "div"), detail = line(foot, "detail", "div");
    card.append(head, bar, box, foot);

    let current = null, picked = -1, barAt = "";
    name.addEventListener("click", () => hooks.pick(key));
    const stepUnder = (event) => {
      for (let node = event.target; node && node !== box; node = node.parentNode) if (node.step !== undefined) return node.step;
      return -1;
    };
    box.addEventListener("click", (event) => {
      const index = stepUnder(event);
      if (index >= 0 && String(root.getSelection && root.getSelection()) === "") hooks.step(key, index);
    });
    let over = -1;
    box.addEventListener("mouseover", (event) => {
      const index = stepUnder(event);
      if (index !== over) hooks.peek(key, (over = index));
    });
    box.addEventListener("mouseleave", () => hooks.peek(key, (over = -1)));
    box.addEventListener("keydown", (event) => {
      const move = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!move || !current || !current.steps) return;
      event.preventDefault();
      const from = picked >= 0 ? picked : current.steps - (move < 0 ? 0 : 1);
      hooks.step(key, Math.max(0, Math.min(current.steps - 1, from + move)));
    });

    /** Words that do not depend on the run's progress. */
    function label(lane, say) {
      title.data = S.draw.laneName(say, key);
      const what = say.has("idea." + key) ? say("idea." + key) : say("idea.lane");
      const size = lane.capacity;
      const sized = size === "auto" ? "idea.auto" : "idea.capacity";
      idea.text.data = size && key !== "vanilla" ? say(sized, { idea: what, n: size }) : what;
      idea.holder.title = say("forward.help");
      clock.holder.title = say("clock.help");
      name.title = say("lane.pick", { lane: title.data });
      box.setAttribute("aria-label", say("lane.text", { lane: title.data }));
    }

    /** Clock and text always; what need not change twelve times a second only with `whole`. */
    function show(lane, state, say, whole) {
      current = state;
      put(clock.text, say("unit.seconds", { n: S.words.seconds(state.clock) }));
      put(tokens.text, say("unit.tokens", { n: state.tokens }));
      text.show(lane.steps, state.steps, say);
      if (!whole && !state.finished && state.steps > 1) return;
      put(rate.text, say("unit.rate", { n: S.words.tenths(state.rate) }));
      put(per.text, say("unit.perforward", { n: S.words.tenths(state.perForward) }));
      const width = `scaleX(${state.progress.toFixed(4)})`;
      if (width !== barAt) fill.style.transform = barAt = width;
      put(reading.text, state.steps || state.finished ? "" : readingText(state, say));
      card.classList.toggle("writing", !state.finished && state.steps > 0);
      card.classList.toggle("failed", state.reason === "error");
      showBadge(state, say);
    }

    function readingText(state, say) {
      if (!state.prefill) return say("ready");
      return say("reading", { done: state.prefill.done, total: state.prefill.prompt_tokens });
    }

    function showBadge(state, say) {
      const { className, text: words, more, help } = S.badgeWords(state, say);
      put(badge.text, words);
      put(detail.text, more);
      const wanted = "badge " + className;
      if (badge.holder.className !== wanted) badge.holder.className = wanted;
      if (foot.title !== help) foot.title = help;
    }

    function chosen(on) {
      card.classList.toggle("chosen", on);
      name.setAttribute("aria-pressed", String(on));
    }

    function mark(index, pinned) {
      picked = pinned ? index : -1;
      text.mark(index);
    }

    /** Bring a step into sight, as after an arrow key. */
    function reveal(index) {
      const span = text.spanOf(index);
      if (!span) return;
      const at = span.getBoundingClientRect(), room = box.getBoundingClientRect();
      if (at.top < room.top + 8 || at.bottom > room.bottom - 8) box.scrollTop += at.top - room.top - room.height / 2;
    }

    function reset() {
      text.clear();
    }
    return { card, label, show, chosen, mark, reveal, reset, setRejected: text.setRejected };
  }

  /** The badge and the line below it, in words. Pure. */
  S.badgeWords = function badgeWords(state, say) {
    const badge = state.badge;
    const out = { className: badge.kind, text: "", more: "", help: "" };
    if (state.finished) out.more = state.reason === "error" && state.message ? state.message : say("finish." + state.reason);
    if (badge.kind !== "differs") {
      out.text = say("badge." + badge.kind, { n: badge.n });
      return out;
    }
    const { compare } = badge;
    const piece = (token, text) => (token === null ? say("badge.ended") : "“" + S.words.visible(text, 12) + "”");
    out.text = say("badge.differs", {
      n: compare.first + 1, mine: piece(compare.token, compare.piece), theirs: piece(compare.vanilla_token, compare.vanilla_piece),
    });
    const facts = [];
    if (compare.gap !== null && compare.gap !== undefined) facts.push(say("badge.gap", { gap: Number(compare.gap.toPrecision(2)) }));
    if (compare.tie) {
      facts.push(say("badge.tie"));
      out.className = "differs tie";
      out.help = say("badge.tie.help", { tolerance: compare.tolerance === null ? "?" : Number(compare.tolerance.toPrecision(2)) });
    }
    if (out.more) facts.push(out.more);
    out.more = facts.join(" · ");
    return out;
  };

  S.laneCard = laneCard;
})(typeof globalThis !== "undefined" ? globalThis : this);

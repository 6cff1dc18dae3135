/* One lane's card: name, clock, figures, thinking, draft, answer, badge. */
(function (root) {
  "use strict";
  const S = (root.Slipstream = root.Slipstream || {});
  const { el, put } = S.draw;

  function line(parent, className, tag) {
    const holder = el(tag || "span", className);
    const text = document.createTextNode("");
    holder.appendChild(text);
    parent.appendChild(holder);
    return { holder, text };
  }

  /** A part of a lane's text: its heading and a box that scrolls and follows its end. */
  function section(className) {
    const part = el("section", "part " + className), head = el("div", "part-head");
    const title = line(head, "", "h4"), aside = line(head, "aside");
    const box = el("div", "text"), body = el("div", "text-body");
    box.tabIndex = 0;
    box.setAttribute("role", "group");
    box.appendChild(body);
    part.append(head, box);
    return { part, head, title, aside, box, body };
  }

  /** Name, idea, clock and figures. */
  function headOf(place) {
    const head = el("div", "lane-head"), name = el("button", "lane-name");
    name.type = "button";
    const swatch = S.draw.svg("svg", { class: "swatch", viewBox: "0 0 18 6", width: 18, height: 6, "aria-hidden": "true" });
    swatch.appendChild(S.draw.svg("path", { class: "line lane-" + (place % 6), d: "M0 3h18" }));
    const title = document.createTextNode("");
    name.append(title, swatch);
    head.appendChild(name);
    const idea = line(head, "idea", "div"), clock = line(head, "clock", "div"), figures = el("div", "figures");
    const tokens = line(figures, ""), rate = line(figures, ""), per = line(figures, "");
    head.appendChild(figures);
    return { head, name, title, idea, clock, tokens, rate, per };
  }

  /** What a visitor does in a lane's text: point at a step, click it, walk through steps by key. */
  function listen(sheet, boxes, hooks, key, current) {
    let over = -1;
    const stepUnder = (event) => {
      for (let node = event.target; node && node !== sheet; node = node.parentNode) if (node.step !== undefined) return node.step;
      return -1;
    };
    sheet.addEventListener("click", (event) => {
      const index = stepUnder(event);
      if (index >= 0 && String(root.getSelection && root.getSelection()) === "") hooks.step(key, index);
    });
    sheet.addEventListener("mouseover", (event) => {
      const index = stepUnder(event);
      if (index !== over) hooks.peek(key, (over = index));
    });
    sheet.addEventListener("mouseover", (event) => {
      const node = event.target;
      hooks.token(key, node.token === undefined ? -1 : node.token, node);
    });
    sheet.addEventListener("mouseleave", () => {
      hooks.peek(key, (over = -1));
      hooks.token(key, -1);
    });
    for (const box of boxes) {
      box.addEventListener("blur", () => hooks.token(key, -1));
      box.addEventListener("keydown", (event) => {
        const move = S.keys.move(event), { steps, picked, along } = current();
        if (!move || !steps) return;
        event.preventDefault();
        if (event.shiftKey) return along(move);
        const target = picked < 0 ? steps - 1 : Math.max(0, Math.min(steps - 1, picked + move));
        if (target !== picked) hooks.step(key, target); // the same again would let it go
      });
    }
  }

  /** A lane's card. `hooks`: pick(key), step(key, index), peek(key, index or -1), token(key, token or -1, its element, by key). */
  function laneCard(key, place, hooks) {
    const card = el("article", "lane lane-" + (place % 6));
    const { head, name, title, idea, clock, tokens, rate, per } = headOf(place);
    const bar = el("div", "bar"), fill = el("div", "fill");
    bar.appendChild(fill);
    const sheet = el("div", "sheet");
    const thinking = section("thinking"), draft = S.draftView(), answer = section("answer");
    const reading = line(answer.box, "reading", "div");
    answer.box.insertBefore(reading.holder, answer.body);
    sheet.append(thinking.part, draft.root, answer.part);
    const text = S.textView(thinking.body, answer.body);
    const foot = el("div", "foot");
    const badge = line(foot, "badge", "div"), check = line(foot, "check", "div"), detail = line(foot, "detail", "div");
    card.append(head, bar, sheet, foot);
    name.addEventListener("click", () => hooks.pick(key));
    let current = null, run = null, picked = -1, reached = -1, barAt = "";
    listen(sheet, [thinking.box, answer.box], hooks, key, () => ({ steps: current ? current.steps : 0, picked, along }));

    /** Words that do not depend on the run's progress. */
    function label(lane, say) {
      title.data = S.draw.laneName(say, key);
      const what = say.has("idea." + key) ? say("idea." + key) : say("idea.lane");
      const size = lane.capacity;
      const sized = size === "auto" ? "idea.auto" : "idea.capacity";
      const drafts = size && key !== "vanilla" && !key.startsWith("ssr");
      idea.text.data = drafts ? say(sized, { idea: what, n: size }) : what;
      idea.holder.title = idea.text.data + "\n" + say("forward.help");
      clock.holder.title = say("clock.help");
      name.title = say("lane.pick", { lane: title.data });
      thinking.box.setAttribute("aria-label", say("lane.thinking", { lane: title.data }));
      answer.box.setAttribute("aria-label", say("lane.text", { lane: title.data }));
    }

    /** Clock and text always; what need not change ten times a second only with `whole`. `asked`: the run's settings. */
    function show(lane, state, say, whole, asked) {
      current = state;
      run = lane;
      put(clock.text, say("unit.seconds", { n: S.words.seconds(state.clock) }));
      put(tokens.text, tokenWords(state, say));
      arrange(lane, asked);
      text.show(lane, state.steps, say);
      if (!draft.root.hidden) draft.show(lane, state, asked.draft_at, say);
      if (state.thinking) showHeads(state, say);
      if (!whole && !state.finished && state.steps > 1) return;
      put(rate.text, say("unit.rate", { n: S.words.tenths(state.rate) }));
      put(per.text, say("unit.perforward", { n: S.words.tenths(state.perForward) }));
      const width = `scaleX(${state.progress.toFixed(4)})`;
      if (width !== barAt) fill.style.transform = barAt = width;
      put(reading.text, state.steps || state.finished ? "" : readingText(state, say));
      if (!state.thinking) showHeads(state, say);
      card.classList.toggle("failed", state.reason === "error");
      showBadge(state, say);
      text.differ(lane, state.badge.kind === "differs" ? state.badge.compare.first : -1);
    }

    /** Which parts there are: decided by the whole run, so that nothing moves while it is played. */
    function arrange(lane, asked) {
      const thinks = S.phases.laneThinks(lane, asked);
      const drafts = thinks && (lane.drafts.length > 0 || /ssr/.test(key));
      for (const [part, there] of [[thinking.part, thinks], [answer.head, thinks], [draft.root, drafts]]) if (part.hidden === there) part.hidden = !there;
      card.classList.toggle("drafting", drafts);
    }

    function showHeads(state, say) {
      const open = Boolean(state.thinking) && state.thinking.open, words = S.partWords(state, say);
      put(thinking.title.text, words.thinking);
      put(thinking.aside.text, words.closed);
      put(answer.title.text, words.answer);
      for (const [part, here] of [[thinking.part, open], [answer.part, !open]]) part.classList.toggle("writing", here && !state.finished && state.steps > 0);
    }

    function showBadge(state, say) {
      const words = S.badgeWords(state, say);
      put(detail.text, words.more);
      footLine(badge, { ...words, className: "badge " + words.className });
      footLine(check, S.checkWords(state.check, say));
    }

    function chosen(on) {
      card.classList.toggle("chosen", on);
      name.setAttribute("aria-pressed", String(on));
    }

    /** Mark the step that is looked at; `held` is the one that was picked, from which the keys go on. Or -1. */
    function mark(index, held) {
      picked = held;
      text.mark(index);
    }

    /** Scroll a piece of the text into its box, if it is not in sight there. */
    function intoSight(span) {
      const box = span.closest(".text"), at = span.getBoundingClientRect(), room = box.getBoundingClientRect();
      if (at.top < room.top + 8 || at.bottom > room.bottom - 8) box.scrollTop += at.top - room.top - room.height / 2;
    }

    /** Bring a step into sight, as after an arrow key. */
    function reveal(index) {
      const span = text.spanOf(index);
      if (!span) return;
      intoSight(span);
      // Reached by key, the step's first token says what it is, as it would under the mouse.
      const first = span.token === undefined ? span.firstElementChild : span;
      reached = first && first.token !== undefined ? first.token : -1;
      if (first && span.closest(".text") === document.activeElement) hooks.token(key, reached, first);
    }

    /** The next token, `move` 1, or the one before, -1: by key, in the step that was picked or beside it; at first the newest. */
    function along(move) {
      const n = run.tokens[current.steps - 1], begun = picked >= 0 && S.fold.upTo(run.tokens, reached) === picked;
      const start = picked < 0 ? n - 1 : picked ? run.tokens[picked - 1] : 0, way = picked < 0 ? -1 : move;
      let token = begun ? reached + move : start, node = null;
      // A token without text of its own has no place in it.
      while (token >= 0 && token < n && !(node = text.tokenOf(run, token))) token += way;
      if (!node) return;
      const index = S.fold.upTo(run.tokens, token);
      if (index !== picked) hooks.step(key, index);
      intoSight(node);
      reached = token;
      hooks.token(key, token, node, true);
    }

    arrange({ phases: { reasoning: null }, drafts: [] }, {});
    return { card, label, show, chosen, mark, reveal, setRejected: text.setRejected, draft: draft.root };
  }

  /** A line of the foot. Its help is its title and, for who has no mouse, below it while it has the focus. */
  function footLine({ holder, text }, { className, text: words, help }) {
    put(text, words);
    if (holder.className !== className) holder.className = className;
    if (holder.title === help) return;
    holder.title = holder.dataset.help = help;
    for (const [name, value] of [["tabindex", "0"], ["role", "note"], ["aria-description", help]]) {
      if (help) holder.setAttribute(name, value);
      else holder.removeAttribute(name);
    }
  }

  function tokenWords(state, say) {
    const { thinking, tokens } = state;
    return thinking ? say("unit.phases", { thinking: thinking.tokens, answer: thinking.answer }) : say("unit.tokens", { n: tokens });
  }

  function readingText(state, say) {
    if (!state.prefill) return say("ready");
    return say("reading", { done: state.prefill.done, total: state.prefill.prompt_tokens });
  }

  /** The headings of thinking and answer, in words. Pure. */
  S.partWords = function partWords({ thinking }, say) {
    if (!thinking) return { thinking: say("part.thinking"), closed: "", answer: say("part.answer") };
    const counted = (key, n) => (n ? say(key) + " · " + say("unit.tokens", { n }) : say(key));
    return {
      thinking: counted("part.thinking", thinking.tokens),
      closed: thinking.open ? "" : say("part.closed." + thinking.closedBy),
      answer: counted("part.answer", thinking.answer),
    };
  };

  /** Whether the answer is right, in words; empty where nobody knows. Pure. */
  S.checkWords = function checkWords(check, say) {
    if (!check) return { className: "check", text: "", help: "" };
    const verdict = say(check.right ? "check.right" : "check.wrong");
    return {
      className: "check " + (check.right ? "right" : "wrong"),
      text: check.right ? verdict : verdict + " " + S.translated(check.reason),
      help: say("check.help", { task: say("task." + check.task) }),
    };
  };

  /** The badge and the line below it, in words. Pure. */
  S.badgeWords = function badgeWords(state, say) {
    const badge = state.badge;
    const out = { className: badge.kind, text: "", more: "", help: "" };
    if (state.finished) out.more = state.reason === "error" && state.message ? S.translated(state.message) : say("finish." + state.reason);
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
      out.help = say("badge.tie.help", { tolerance: Number.isFinite(compare.tolerance) ? Number(compare.tolerance.toPrecision(2)) : "?" });
    }
    if (out.more) facts.push(out.more);
    out.more = facts.join(" · ");
    return out;
  };

  S.laneCard = laneCard;
})(typeof globalThis !== "undefined" ? globalThis : this);

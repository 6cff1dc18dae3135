/* A guided tour of six stops over a run that has RACER and SSR in it. */
(function (root) {
  "use strict";
  const S = (root.Slipstream = root.Slipstream || {});
  const { el } = S.draw;

  const best = (list, worth) => list.reduce((found, one) => (worth(one) > (found ? worth(found) : 0) ? one : found), null);
  const lengthy = (steps) => Math.max(1, steps.length - 1);

  /** A step of the lane's first nine tenths that is worth most; null where none is worth anything. */
  const chosen = (lane, worth) => best(lane.steps.slice(0, Math.ceil(lengthy(lane.steps) * 0.9)), worth);

  /**
   * The stops that this run can show: `{ key, lane, step, t, part }` in order. `step` is looked
   * at, `t` is the time to go to, `part` what is pointed out. Pure.
   */
  function stops(story) {
    const guessing = ["racer", "racer+ssr"].map((key) => story.lanes.get(key)).find(Boolean);
    const drafting = ["ssr", "racer+ssr"].map((key) => story.lanes.get(key)).find((lane) => lane && lane.verifies.length);
    const found = [];
    const at = (key, lane, step, part) => { if (step) found.push({ key, lane: lane.key, step: step.index, t: step.start + step.seconds, part, values: valuesOf(step) }); };
    if (guessing) {
      const hit = chosen(guessing, (step) => step.accepted * 10 - step.drafted);
      at("draft", guessing, hit || chosen(guessing, (step) => step.accepted), "lane");
      at("verify", guessing, hit || chosen(guessing, (step) => step.accepted), "say");
      at("tree", guessing, chosen(guessing, (step) => (step.accepted > 1 ? Math.min(step.drafted, 16) : 0)) || hit, "tree");
      at("wasted", guessing, chosen(guessing, (step) => step.drafted - 4 * step.accepted), "tree");
    }
    if (drafting) {
      const verify = drafting.verifies[drafting.verifies.length - 1];
      const step = drafting.steps[Math.max(0, Math.min(drafting.steps.length, verify.after) - 1)];
      if (step) found.push({ key: "thinking", lane: drafting.key, step: step.index, t: step.start + step.seconds, part: "draft", values: { accepted: verify.accepted, length: verify.length } });
    }
    const last = guessing || drafting;
    if (last && found.length) found.push({ key: "same", lane: last.key, step: -1, t: Infinity, part: "badge", values: {} });
    return found;
  }

  const valuesOf = (step) => ({ drafted: step.drafted, accepted: step.accepted, tokens: step.tokens.length, wasted: step.drafted - step.accepted, f: step.index + 1 });

  /** The tour's card. `hooks`: go(stop) shows a stop and returns the element to point out; tell(words); end() takes the focus that the card had. */
  function tour(parent, hooks) {
    const card = el("section", "tour"), title = el("h2", ""), words = el("p", ""), foot = el("div", "tour-foot"), count = el("span", "");
    const back = el("button", "toggle"), next = el("button", "toggle strong"), close = el("button", "toggle");
    for (const button of [back, next, close]) button.type = "button";
    foot.append(count, back, next, close);
    card.append(title, words, foot);
    card.hidden = true;
    card.tabIndex = -1;
    parent.appendChild(card);
    let list = [], at = 0, say = null, pointed = null;

    function show() {
      const stop = list[at];
      point(hooks.go(stop));
      label();
      card.hidden = false;
      hooks.tell(title.textContent + ". " + words.textContent); // the focus stays on the button, the words beside it change
    }

    function label() {
      if (!list.length || !say) return;
      const stop = list[at];
      title.textContent = say("tour." + stop.key);
      words.textContent = say("tour." + stop.key + ".text", stop.values);
      count.textContent = say("tour.count", { at: at + 1, of: list.length });
      const last = at === list.length - 1;
      back.textContent = say("tour.back");
      if (at === 0) S.draw.passFocus(back, next);
      back.disabled = at === 0;
      next.textContent = say(last ? "tour.done" : "tour.next");
      close.textContent = say("close");
      if (last) S.draw.passFocus(close, next);
      close.hidden = last;
      card.setAttribute("aria-label", say("tour"));
    }

    function point(node) {
      if (pointed) pointed.classList.remove("toured");
      pointed = node;
      if (!node) return;
      node.classList.add("toured");
      node.scrollIntoView({ block: "center", behavior: "auto" });
    }

    function move(by) {
      if (at + by < 0) return;
      if (at + by >= list.length) end();
      else {
        at += by;
        show();
      }
    }

    function end() {
      if (card.hidden) return;
      const held = card.contains(document.activeElement);
      point(null);
      card.hidden = true;
      list = [];
      if (held) hooks.end();
    }

    back.addEventListener("click", () => move(-1));
    next.addEventListener("click", () => move(1));
    close.addEventListener("click", end);
    card.addEventListener("keydown", (event) => {
      const by = S.keys.move(event);
      if (event.key === "Escape" && S.keys.plain(event)) end();
      else if (by) move(by);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    return {
      /** Begin over a story; false where it has nothing to show. */
      start(story) {
        list = stops(story);
        at = 0;
        if (!list.length) return false;
        show();
        card.focus({ preventScroll: true });
        return true;
      },
      end,
      label(next_) {
        say = next_;
        label();
      },
      get running() { return !card.hidden; },
    };
  }

  S.tour = { stops, tour };
})(typeof globalThis !== "undefined" ? globalThis : this);

/* Everything that is known of one token: shown where it is pointed at. */
(function (root) {
  "use strict";
  const S = (root.Slipstream = root.Slipstream || {});
  const { el } = S.draw;

  /** A token of a lane, by its place in the text: `{ id, piece, source, forward, time, rank, count }`. Pure. */
  S.tokenFacts = function tokenFacts(lane, token) {
    const i = S.fold.upTo(lane.tokens, token), step = lane.steps[i];
    if (!step) return null;
    const k = token - (i ? lane.tokens[i - 1] : 0), tree = step.tree;
    // The accepted guesses come first among a step's tokens, in the order of the tree's path.
    const node = tree && k < step.accepted ? tree.path[k + 1] : -1;
    return {
      place: token + 1, id: step.tokens[k], piece: step.pieces[k], source: step.sources[k], forward: step.index + 1,
      time: step.start + step.seconds, rank: node > 0 ? tree.ranks[node] + 1 : null, count: node > 0 ? tree.counts[node] : 0,
    };
  };

  /** The facts in words, `[label, value]` each. Pure. */
  S.tokenWords = function tokenWords(facts, say) {
    const rows = [
      [say("token.id"), String(facts.id)],
      [say("token.source"), say("source." + facts.source)],
      [say("token.forward"), String(facts.forward)],
      [say("token.time"), say("unit.seconds", { n: S.words.seconds(facts.time) })],
    ];
    if (facts.rank !== null) rows.splice(2, 0, [say("token.rank"), say("token.rank.value", { n: facts.rank })]);
    if (facts.count > 0) rows.push([say("token.count"), String(facts.count)]);
    return { title: say("token.title", { piece: S.words.visible(facts.piece, 24), n: facts.place }), help: say("source." + facts.source + ".help"), rows };
  };

  /** A card that floats beside a token. It never takes the pointer and is no place for the keyboard. */
  S.tokenCard = function tokenCard() {
    const card = el("div", "token-card"), title = el("p", "token-title"), help = el("p", "token-help"), list = el("dl", "");
    card.append(title, help, list);
    card.setAttribute("role", "tooltip");
    card.hidden = true;
    let token = null, at = null; // the element it tells of, and where that was
    const made = {
      root: card,
      /** Show the facts beside an element; gives what is shown as one text. */
      show(facts, near, say) {
        const words = S.tokenWords(facts, say);
        title.textContent = words.title;
        help.textContent = words.help;
        list.replaceChildren(...words.rows.flatMap(([label, value]) => [el("dt", "", label), el("dd", "", value)]));
        card.hidden = false;
        token = near;
        at = token.getBoundingClientRect();
        place(card, at);
        return [words.title, ...words.rows.map(([label, value]) => label + ": " + value)].join(". ");
      },
      /** Hide it; false where it was not shown. */
      hide() {
        const shown = !card.hidden;
        card.hidden = true;
        return shown;
      },
      /** Hide it where its token is gone or has moved away from under it. */
      settle() {
        if (card.hidden) return;
        const { top, left } = token.getBoundingClientRect();
        if (!token.isConnected || top !== at.top || left !== at.left) made.hide();
      },
    };
    document.addEventListener("scroll", made.settle, { capture: true, passive: true });
    return made;
  };

  /** Below the token, or above it where there is no room; never over the window's edge. */
  function place(card, box) {
    const own = card.getBoundingClientRect(), room = 8;
    const zoom = Number(getComputedStyle(card.parentNode).zoom) || 1;
    const left = Math.max(room, Math.min(box.left, root.innerWidth - own.width - room));
    const below = box.bottom + room + own.height < root.innerHeight;
    const top = below ? box.bottom + room : Math.max(room, box.top - own.height - room);
    card.style.left = left / zoom + "px";
    card.style.top = top / zoom + "px";
  }
})(typeof globalThis !== "undefined" ? globalThis : this);

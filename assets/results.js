/* Result cards: what a lane's drafting was worth against vanilla. */
(function (root) {
  "use strict";
  const S = (root.Slipstream = root.Slipstream || {});
  const { el, put, laneName } = S.draw;

  /** The figures of a result card, in words: `rows` are [label, value, what vanilla had]. Pure. */
  S.resultWords = function resultWords(lane, state, say) {
    const { ratio, wasted, upTo, whole } = lane.result;
    const vanilla = state.lanes.find((one) => one.key === "vanilla") || null;
    let big = "…", tone = "";
    if (!vanilla) big = say("result.none");
    else if (ratio !== null) {
      // A small difference without a forward less is the machine's, not the method's.
      const noise = vanilla.forwards && lane.result.forwards === lane.result.instead ? 0.1 : 0.03;
      tone = ratio > 1 + noise ? "good" : ratio < 1 - noise ? "slow" : "even";
      big = tone === "even" ? say("result.even") : say(tone === "good" ? "result.sooner" : "result.slower", { n: S.words.factor(tone === "good" ? ratio : 1 / ratio) });
    }
    // A draft of the answer is told of in a row of its own; this line is about guesses.
    const facts = wasted !== null ? say("result.wasted", { n: Math.round(wasted * 100) }) : lane.draft ? "" : say("result.nodrafts");
    let small = "";
    if (vanilla && upTo) small = whole && lane.badge.kind === "identical" ? say("result.same", { n: upTo }) : lane.finished && state.done ? say("result.upto", { n: upTo }) : say("result.racing");
    const note = lane.note && say.has("note." + lane.note) ? say("note." + lane.note) : "";
    return { big, tone, rows: rows(lane, vanilla, say), facts, small, note };
  };

  function rows(lane, vanilla, say) {
    const seconds = (value) => say("unit.seconds", { n: S.words.seconds(value) });
    const against = (value) => (value === null ? "" : say("result.instead", { n: value }));
    const found = [];
    if (lane.thinking) {
      const theirs = vanilla && vanilla.answerAt !== null ? seconds(vanilla.answerAt) : null;
      found.push([say("result.first"), lane.answerAt === null ? "…" : seconds(lane.answerAt), lane.answerAt === null ? "" : against(theirs)]);
    }
    const ended = vanilla && vanilla.finished ? seconds(vanilla.clock) : null;
    found.push([say("result.last"), lane.finished ? seconds(lane.clock) : "…", lane.finished ? against(ended) : ""]);
    const { forwards, instead, whole } = lane.result;
    const saved = whole && instead > forwards ? " · " + say("result.saved", { n: instead - forwards }) : "";
    found.push([say("result.forwards"), String(forwards), against(instead) + saved]);
    if (lane.check) found.push([say("result.check"), say(lane.check.right ? "result.check.right" : "result.check.wrong"), ""]);
    if (lane.draft) found.push([say("result.reused"), String(lane.prefix + lane.suffix), say("result.reused.how", { prefix: lane.prefix, suffix: lane.suffix })]);
    return found;
  }

  S.resultCard = function resultCard() {
    const card = el("article", "result"), name = el("h3", ""), big = el("div", "big"), list = el("dl", "rows");
    const facts = el("div", "small"), note = el("p", "note"), head = el("div", "result-head");
    head.append(name, big);
    card.append(head, list, note, facts);
    return {
      root: card,
      show(lane, state, say) {
        const words = S.resultWords(lane, state, say);
        put(name, laneName(say, lane.key));
        put(big, words.big);
        showRows(list, words.rows);
        put(facts, [words.facts, words.small].filter(Boolean).join(" · "));
        put(note, words.note);
        if (note.hidden === Boolean(words.note)) note.hidden = !words.note;
        if (card.dataset.tone !== words.tone) card.dataset.tone = words.tone;
      },
    };
  };

  function showRows(list, rows) {
    while (list.children.length > rows.length) list.lastChild.remove();
    rows.forEach((row, i) => {
      let line = list.children[i];
      if (!line) {
        line = list.appendChild(el("div", ""));
        line.append(el("dt", ""), el("dd", "value"), el("dd", "against"));
      }
      row.forEach((words, k) => put(line.children[k], words));
    });
  }
})(typeof globalThis !== "undefined" ? globalThis : this);

/* The text of one lane, thinking and answer apart. Text is only ever appended to or cut. */
(function (root) {
  "use strict";
  const S = (root.Slipstream = root.Slipstream || {});
  const { el } = S.draw;
  const CHUNK = 40; // tokens after which a line's end closes a block
  const REJECTED_SHOWN = 6;

  /**
   * One column of text in `body`. A block closes at a line's end, so that new text never
   * has old lines laid out or painted again; what is new goes in with one `flush`.
   */
  function column(body) {
    const fresh = document.createDocumentFragment(); // new blocks
    const tail = document.createDocumentFragment(); // what goes to the block already there
    let block = null, old = null, count = 0;
    const made = {
      begun: false, // whether anything but white space is there
      place(node) {
        if (!block) {
          block = fresh.appendChild(el("div", "block"));
          count = 0;
        }
        (block === old ? tail : block).appendChild(node);
        return node;
      },
      /** Count a token; true where its block ends with it. */
      ends(text) {
        count += 1;
        if (count < CHUNK || !text.endsWith("\n")) return false;
        block = null;
        return true;
      },
      flush() {
        if (old && tail.firstChild) old.appendChild(tail);
        if (fresh.firstChild) body.appendChild(fresh);
        old = block;
      },
      /** After nodes were taken away: go on where the text now ends. */
      recover() {
        block = body.lastChild;
        count = block ? block.querySelectorAll("span").length : 0;
        // A block whose line has ended stays closed, as it was when the text was first written.
        if (count >= CHUNK && block.textContent.endsWith("\n")) block = null;
        old = block;
        made.begun = /\S/.test(body.textContent);
      },
      clear() {
        body.replaceChildren();
        block = old = null;
        count = 0;
        made.begun = false;
      },
    };
    return made;
  }

  /** The text of a lane in two bodies. A step is a span, or several where a line or a phase ends in it. */
  function textView(thinking, answer) {
    const columns = { reasoning: column(thinking), answer: column(answer) };
    const both = [columns.reasoning, columns.answer];
    let shown = [], withRejected = false, marked = -1, different = null;

    /** Bring the text to exactly the first `n` steps. */
    function show(lane, n, say) {
      if (n < shown.length) cut(n);
      if (n <= shown.length) return;
      for (let i = shown.length; i < n; i += 1) shown.push(draw(lane, i, say));
      for (const one of both) one.flush();
    }

    function draw(lane, i, say) {
      const spans = [], single = lane.steps[i].pieces.length === 1;
      const parts = S.phases.parts(lane, i);
      const place = (where, node) => {
        node.step = i;
        spans.push(node);
        return columns[where].place(node);
      };
      let outer = null, where = parts[0].phase;
      for (const part of parts) {
        if (part.text === "") continue;
        if (part.phase !== where) outer = null;
        where = part.phase;
        if (!single && !outer) outer = place(where, el("span", "step"));
        const node = single ? place(where, el("span", "step " + part.source, part.text)) : outer.appendChild(el("span", part.source, part.text));
        node.token = part.token;
        if (begins(columns[where], part.text)) node.classList.add("lead");
        if (columns[where].ends(part.text)) outer = null;
      }
      if (withRejected && lane.steps[i].tree) addRejected(lane.steps[i], (node) => place(where, node), say);
      if (!spans.length) place(where, el("span", "step"));
      return spans;
    }

    /** Whether a token is the white space before a column's first word, which is kept but takes no lines. */
    function begins(into, text) {
      if (into.begun) return false;
      into.begun = /\S/.test(text);
      return /^\s+(\S[^\n]*)?$/.test(text);
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
      for (const one of both) one.recover();
      if (marked >= n) marked = -1;
    }

    function clear() {
      for (const one of both) one.clear();
      shown = [];
      marked = -1;
      different = null;
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

    /** Mark the token `index` as the first that vanilla wrote otherwise; -1 for none. */
    function differ(lane, index) {
      // A token may have no text of its own; then the text it ended up in is marked.
      const found = index < 0 ? null : tokenOf(lane, index) || nodes(lane, index).find((node) => node.token > index) || null;
      if (found === different) return;
      if (different) different.classList.remove("differs");
      if (found) found.classList.add("differs");
      different = found;
    }

    /** Everything there is of the step that wrote a token. */
    const nodes = (lane, token) => (shown[S.fold.upTo(lane.tokens, token)] || []).flatMap((span) => [span, ...span.children]);
    /** The element of a token; null for one without text of its own. */
    const tokenOf = (lane, token) => nodes(lane, token).find((node) => node.token === token) || null;

    return { show, clear, setRejected, mark, differ, tokenOf, spanOf: (index) => shown[index] && shown[index][0] };
  }

  S.textView = textView;
})(typeof globalThis !== "undefined" ? globalThis : this);

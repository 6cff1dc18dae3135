/* The draft of the answer beside the thinking: its text, and how much of it stood. */
(function (root) {
  "use strict";
  const S = (root.Slipstream = root.Slipstream || {});
  const { el } = S.draw;

  const quoted = (token, piece, say) => (token === null || token === undefined ? say("badge.ended") : "“" + S.words.visible(piece, 12) + "”");

  /** The lines above a draft, in words: which, since when, what became of it. Pure. `at`: where it is to open. */
  S.draftWords = function draftWords(draft, state, at, say) {
    if (!draft) {
      const why = state.note && say.has("note." + state.note) ? say("note." + state.note) : "";
      const waits = state.finished ? say("draft.none") : at ? say("draft.waits", { n: at }) : say("draft.waits.plain");
      return { title: say("draft"), opened: "", detail: why || waits, tone: "" };
    }
    const title = say("draft.title", { id: draft.id, n: draft.written, length: draft.length });
    const opened = say("draft.opened", { n: draft.openedAt }), { verify } = draft;
    if (verify) return { title, opened, detail: verdict(verify, say), tone: verify.accepted ? "good" : "bad" };
    if (!draft.closed) return { title, opened, detail: say("draft.writing"), tone: "" };
    const checking = draft.closed !== "superseded" && state.thinking && !state.thinking.open && !state.finished;
    return { title, opened, detail: say(checking ? "draft.checking" : "draft.closed." + draft.closed), tone: "" };
  };

  /** What the check of a draft found. */
  function verdict(verify, say) {
    const { accepted, length } = verify;
    const ended = verify.token === null || verify.token === undefined;
    if (ended && accepted === length) return say("draft.stands", { n: length });
    const values = { n: accepted, length, mine: quoted(verify.token, verify.piece, say), theirs: quoted(verify.answer_token, verify.answer_piece, say) };
    return say(accepted ? "draft.broke" : "draft.fell", values);
  }

  /** Draws drafts into a new section. */
  function draftView() {
    const section = el("section", "part draft"), head = el("div", "part-head"), title = el("h4", ""), opened = el("p", "part-opened"), detail = el("p", "part-more");
    const scroll = el("div", "text"), body = el("div", "draft-body");
    head.append(title, opened, detail);
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "group");
    scroll.appendChild(body);
    section.append(head, scroll);
    let shown = { id: 0, pieces: 0, stands: -1 };

    function put(node, words) {
      S.draw.put(node, words);
      if (node.title !== words) node.title = words; // the line may be cut
    }

    /** Bring the section to the lane's newest draft as it is in `state`. */
    function show(lane, state, at, say) {
      const draft = state.draft;
      const words = S.draftWords(draft, state, at, say);
      put(title, words.title);
      if (scroll.getAttribute("aria-label") !== words.title) scroll.setAttribute("aria-label", words.title);
      put(opened, words.opened);
      put(detail, words.detail);
      if (section.dataset.tone !== words.tone) section.dataset.tone = words.tone;
      section.classList.toggle("writing", Boolean(draft) && !draft.closed);
      const wanted = draft ? { id: draft.id, pieces: draft.pieces, stands: draft.verify ? draft.verify.accepted : -1 } : { id: 0, pieces: 0, stands: -1 };
      const again = wanted.id !== shown.id || wanted.pieces < shown.pieces || wanted.stands !== shown.stands;
      if (!again && wanted.pieces === shown.pieces) return;
      if (again) body.replaceChildren();
      if (draft) append(lane.drafts.find((one) => one.id === draft.id), again ? 0 : shown.pieces, draft);
      shown = wanted;
      if (again && draft && draft.verify) reveal();
    }

    function append(story, from, { pieces, verify }) {
      const fresh = document.createDocumentFragment();
      let begun = /\S/.test(body.textContent); // as it is when the whole is drawn anew
      for (let i = from; i < pieces; i += 1) {
        if (story.pieces[i] === "") continue;
        const node = el("span", story.sources[i], story.pieces[i]);
        if (!begun && /^\s+(\S[^\n]*)?$/.test(story.pieces[i])) node.classList.add("lead");
        begun = begun || /\S/.test(story.pieces[i]);
        if (verify) node.classList.add(i < verify.accepted ? "stands" : i === verify.accepted ? "broke" : "off");
        fresh.appendChild(node);
      }
      body.appendChild(fresh);
    }

    /** The place where the draft broke, brought into sight once. */
    function reveal() {
      const broke = body.querySelector(".broke");
      if (!broke) return;
      const at = broke.getBoundingClientRect(), room = scroll.getBoundingClientRect();
      if (at.top < room.top || at.bottom > room.bottom) scroll.scrollTop += at.top - room.top - room.height / 2;
    }
    return { root: section, show };
  }

  S.draftView = draftView;
})(typeof globalThis !== "undefined" ? globalThis : this);

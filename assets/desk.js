/* What is around the player: its tools, dialogs, keys, files dropped on it, presenting. */
(function (root) {
  "use strict";
  const S = (root.Slipstream = root.Slipstream || {});
  const { el } = S.draw;

  /** Tools for `player`; `outside` as in S.player. */
  function desk(player, outside) {
    const { parts, controls } = player, entries = outside.gallery || [];
    const page = document.documentElement;
    let say = (key) => key;
    const tools = {};
    for (const name of ["tour", "gallery", "save", "present", "full", "keys"]) {
      tools[name] = el("button", "toggle tool-" + name);
      tools[name].type = "button";
      parts.tools.appendChild(tools[name]);
    }
    tools.full.hidden = !document.fullscreenEnabled;

    const help = S.dialogs.help(parts.root);
    const gallery = S.dialogs.gallery(parts.root, entries, { open: (name) => named(name), file });
    const items = ["recording", "page", "table", "lanes", "tree", "timeline", "link"];
    const saving = S.dialogs.saving(parts.root, outside.shell ? items : items.filter((one) => one !== "page"), { save });
    const tour = S.tour.tour(parts.root, {
      go(stop) {
        controls.jump(stop.t);
        player.look(stop.lane, stop.step);
        return pointed(stop);
      },
      tell: player.announce,
      end: () => (page.classList.contains("presenting") ? tools.present : tools.tour).focus(), // that view has no tour
    });

    function pointed({ part, lane }) {
      const card = player.card(lane);
      return { say: parts.say, tree: parts.treePanel, lane: card && card.card, draft: card && card.draft, badge: parts.lanes }[part] || null;
    }

    // ---- recordings ----------------------------------------------------------------

    /** Open a bundled recording, at a lane time if one is given. */
    function named(name, t) {
      if (!entries.some((one) => one.name === name)) return player.notice(() => say("file.none", { name: S.words.shortened(name, 60) }), "bad");
      outside.open(name, t);
    }

    /** Open a file of the visitor's own; what is on the page stays where that fails. */
    async function file(chosen) {
      try {
        const found = await S.recording.read(chosen);
        if (!found.events) player.notice(() => say(found.problem, found.values), "bad");
        else if (!player.open(found.events, null)) player.notice(() => say("file.busy"), "bad");
      } catch (error) {
        console.warn(error); // whatever a file may hold, the page stays and says so
        player.notice(() => say("file.cut"), "bad");
      }
    }

    const files = (event) => event.dataTransfer && Array.from(event.dataTransfer.types).includes("Files");
    for (const kind of ["dragenter", "dragover"]) {
      root.addEventListener(kind, (event) => {
        if (!files(event)) return;
        event.preventDefault();
        parts.root.classList.add("dropping");
      });
    }
    root.addEventListener("dragleave", (event) => { if (!event.relatedTarget) parts.root.classList.remove("dropping"); });
    root.addEventListener("drop", (event) => {
      parts.root.classList.remove("dropping");
      if (!files(event)) return;
      event.preventDefault();
      if (event.dataTransfer.files.length) file(event.dataTransfer.files[0]);
    });

    // ---- saving --------------------------------------------------------------------

    /** Make what was asked for; a browser that cannot says so, and so does a page whose machine is gone. */
    async function save(key) {
      try {
        await { recording, page: exported, table, link, lanes: () => image("lanes"), tree: () => image("treePanel"), timeline: () => image("timePanel") }[key]();
      } catch (error) {
        console.warn(error);
        player.notice(() => say(error.name === "NetworkError" ? "error.connection" : "save.failed"), "bad");
      }
    }

    const events = () => S.fold.whole(player.story);
    const name = (ending) => S.share.fileName(player.story.run, ending);

    async function recording() {
      S.share.save(await S.recording.pack(events()), name(".jsonl.gz"));
    }

    async function exported() {
      const shell = await outside.shell(), { meta } = player;
      const told = meta && { title: meta.title, about: meta.about }; // its name leads nowhere from there
      // The holes are in ui/export.py; this script is in the page too, so it does not spell them.
      const fill = (page, hole, data) => page.replace(`<!--${hole}-->`, () => data.replace(/</g, "\\u003c"));
      const filled = fill(fill(shell, "recording", S.recording.format(events())), "meta", JSON.stringify(told));
      S.share.save(new Blob([filled], { type: "text/html" }), name(".html"));
    }

    async function table() {
      S.share.save(new Blob(["\ufeff", S.share.csv(player.story)], { type: "text/csv" }), name(".csv"));
    }

    async function image(part) {
      S.share.save(await S.share.picture(parts[part]), name("-" + part.toLowerCase() + ".png"));
    }

    async function link() {
      // A run of the visitor's own is at no address: nobody else could open it there.
      const there = player.meta || (outside.own && outside.own === player.story.run.id);
      if (!there) return player.notice(() => say("save.link.none"));
      const address = S.share.link(location.href, player.meta && player.meta.name, controls.now);
      let copied = true;
      try {
        await navigator.clipboard.writeText(address);
      } catch (error) {
        copied = false; // without permission it is shown instead
      }
      player.notice(() => say(copied ? "save.link.done" : "save.link.shown", { link: address }));
    }

    // ---- presenting ----------------------------------------------------------------

    /** Larger, with more contrast, and nothing but the player. Kept in the address. */
    function present(on) {
      page.classList.toggle("presenting", on);
      tools.present.setAttribute("aria-pressed", String(on));
      tools.present.textContent = say(on ? "present.leave" : "present");
      S.share.keep("present", on ? "1" : null);
      root.dispatchEvent(new Event("resize")); // everything has another size now
    }

    function full() {
      if (document.fullscreenElement) document.exitFullscreen();
      else if (document.fullscreenEnabled) page.requestFullscreen().catch((error) => console.warn(error));
    }

    const presenting = () => page.classList.contains("presenting");

    // ---- keys ----------------------------------------------------------------------

    const actions = {
      play: () => controls.toggle(),
      back: () => controls.step(-1),
      forward: () => controls.step(1),
      home: () => controls.jump(0),
      end: () => controls.jump(Infinity),
      slower: () => controls.quicken(-1),
      faster: () => controls.quicken(1),
      lane: (n) => { if (player.story.order[n]) player.look(player.story.order[n], -1); },
      // Where there is nothing yet, the presenter view would hide the way to something.
      present: () => { if (!tools.present.disabled) present(!presenting()); },
      full,
      help: help.open,
      // One thing at a time, the topmost first.
      leave: () => {
        if (tour.running) tour.end();
        else if (!player.dismiss() && presenting()) present(false);
      },
    };
    document.addEventListener("keydown", (event) => {
      // A click beside its buttons takes the focus out of a dialog; the keys stay with it all the same.
      if (parts.root.querySelector("dialog[open]")) return;
      const found = S.keys.action(event, event.target);
      if (!found || (tour.running && /^(back|forward)$/.test(found.name))) return;
      if (found.name !== "leave") event.preventDefault();
      if (event.repeat && /^(play|present|full)$/.test(found.name)) return; // a switch that is held down would flicker
      actions[found.name](found.n);
    });

    tools.keys.addEventListener("click", help.open);
    tools.gallery.addEventListener("click", gallery.open);
    tools.save.addEventListener("click", saving.open);
    tools.present.addEventListener("click", () => present(!presenting()));
    tools.full.addEventListener("click", full);
    tools.tour.addEventListener("click", () => {
      if (!tour.start(player.story)) player.notice(() => say("tour.none"));
    });

    function label(next, language) {
      say = next;
      for (const dialog of [help, saving]) dialog.label(say);
      gallery.label(say, language);
      tour.label(say);
      for (const [key, words] of [["tour", "tour"], ["gallery", "gallery.open"], ["save", "save"], ["full", "full"], ["keys", "keys"]]) tools[key].textContent = say(words);
      tools.present.textContent = say(presenting() ? "present.leave" : "present");
      parts.root.dataset.drop = say("file.drop");
    }

    /** What there is now can be saved and toured; before that nothing can. */
    function begun() {
      for (const key of ["tour", "save", "present"]) tools[key].disabled = false;
      tour.end();
      if (due) present(true);
      due = false;
    }
    for (const key of ["tour", "save", "present"]) tools[key].disabled = true;
    let due = new URLSearchParams(location.search).get("present") === "1"; // once there is something to present
    return { label, begun, named, file, present, tour, save };
  }

  S.desk = desk;
})(typeof globalThis !== "undefined" ? globalThis : this);

/* The player on the Gradio page: language, examples, buttons, and the stream's way in. */
(function (root) {
  "use strict";
  const S = (root.Slipstream = root.Slipstream || {});
  const { el } = S.draw;
  const WAIT = 350; // milliseconds of silence after which a race is said to be waiting
  const PATIENCE = 30_000; // milliseconds a recording or an empty page is waited for: an answer can be lost, as a batch can

  const read = (name) => {
    const holder = document.getElementById("slipstream-" + name);
    return holder ? JSON.parse(holder.textContent) : null;
  };
  const words = read("words") || { en: {} };
  const prompts = read("prompts") || [];
  let language = S.words.firstLanguage(words, new URLSearchParams(location.search).get("lang"), navigator.language);
  let say = S.words.dictionary(words[language], words.en);
  let show = null, headerWords = null, exampleWords = null, thinkingWords = null, service = null, chosen = "", asks = 0, opening = { n: 0 }, late = 0, bundled = null, shell = null, shelled = null, unshelled = null, outside = null, waiting = 0, resting = 0, running = false, link = null, about = null;
  const gallery = []; // filled when the machine says hello
  const asking = []; // what the machine is still to be asked, in order: two questions may be put at once
  const due = new Set(); // what it owes an answer to, besides a race

  S.translated = (text) => S.words.translated(words.en, say, text);

  function setLanguage(next) {
    language = next;
    say = S.words.dictionary(words[language], words.en);
    S.share.keep("lang", language);
    document.documentElement.lang = language;
    if (headerWords) headerWords();
    if (exampleWords) exampleWords();
    if (thinkingWords) thinkingWords();
    if (show) show.setLanguage(say, language);
    describe();
  }

  function header(element, trigger) {
    const box = element.querySelector(".slip-root");
    const title = el("h1", "", "Slipstream"), idea = el("p", "idea"), change = el("button", "language");
    change.type = "button";
    const line = el("div", "header"), explain = el("p", "explain");
    line.append(title, idea, change);
    box.replaceChildren(line, explain);
    headerWords = () => {
      idea.textContent = say("idea");
      explain.textContent = say("explain");
      change.textContent = say("language.other");
      change.lang = S.words.otherLanguage(language);
      change.title = say("language.switch");
    };
    change.addEventListener("click", () => {
      setLanguage(change.lang);
      trigger("select");
    });
    document.documentElement.lang = language;
    headerWords();
  }

  /** Example prompts: kinds as tabs, the prompts of the open kind beside them. */
  function examples(element, trigger) {
    const box = element.querySelector(".slip-root");
    const kinds = [...new Set(prompts.map((one) => one.kind))];
    let open = kinds[0];
    const line = el("div", "examples"), tabs = el("div", "kinds"), list = el("div", "titles");
    tabs.setAttribute("role", "group");
    line.append(tabs, list);
    box.replaceChildren(line);
    exampleWords = () => {
      tabs.setAttribute("aria-label", say("examples"));
      tabs.replaceChildren(...kinds.map((kind) => {
        const tab = el("button", "kind", say("kind." + kind));
        tab.type = "button";
        tab.setAttribute("aria-pressed", String(kind === open));
        tab.addEventListener("click", () => {
          open = kind;
          exampleWords();
          tabs.children[kinds.indexOf(kind)].focus();
        });
        return tab;
      }));
      list.replaceChildren(...prompts.filter((one) => one.kind === open).map((one) => {
        const title = el("button", "example", one.title[language] || one.title.en);
        title.type = "button";
        title.title = one.prompt;
        title.addEventListener("click", () => {
          chosen = one.prompt;
          trigger("select");
        });
        return title;
      }));
    };
    exampleWords();
  }

  /** Heading of the settings that are about thinking and drafting the answer. */
  function thinking(element) {
    const head = el("h3", ""), explain = el("p", "");
    element.querySelector(".slip-root").replaceChildren(head, explain);
    thinkingWords = () => {
      head.textContent = say("thinking.head");
      explain.textContent = say("thinking.explain");
    };
    thinkingWords();
  }

  /** The main view: the player, and every message from the machine. */
  function view(element, trigger, props, watch) {
    const box = element.querySelector(".slip-root");
    about = el("p", "about");
    const stage = el("div", "stage");
    box.replaceChildren(about, stage);
    const ask = (wanted) => {
      const n = (asks += 1); // numbered, so that the same answer twice is seen twice
      asking.push({ ...wanted, n });
      trigger("select");
      return n;
    };
    /** An empty exported page: fetched once, and anew where no answer came. */
    const empty = () => {
      if (shell) return shell;
      due.add("page");
      shell = new Promise((resolve, reject) => {
        shelled = resolve;
        unshelled = () => reject(new DOMException("no answer", "NetworkError"));
        setTimeout(unshelled, PATIENCE);
        ask({ shell: true });
      });
      shell.catch(() => { shell = null; }).finally(() => due.delete("page"));
      return shell;
    };
    const open = (name, t) => {
      opening = { n: ask({ open: name }), t };
      due.add("recording");
      clearTimeout(late);
      late = setTimeout(() => {
        due.delete("recording");
        instead(() => say("error.untaken"));
      }, PATIENCE);
    };
    outside = {
      gallery,
      missing: ask,
      open,
      shell: empty,
      unreached: words.en["error.connection"],
      plotly: () => S.loaded("slipstream/plotly.min.js", () => root.Plotly),
    };
    show = S.player(stage, say, language, outside);
    S.page.player = show;
    link = S.connection({ awaited: () => running || due.size > 0, poke: () => trigger("input"), lost });
    describe();
    const take = () => {
      if (typeof props.value === "string" && props.value) message(JSON.parse(props.value));
    };
    watch("value", take);
    take();
    buttons();
  }

  function message(told) {
    link.heard();
    if (told.kind === "batch") {
      clearTimeout(waiting);
      show.receive(told);
      if (told.done && show.mode !== "live") idle();
    } else if (told.kind === "started") {
      clearTimeout(waiting);
      service = told.service;
      describe();
      if (running) show.notice(() => say("starting"));
    } else if (told.kind === "hello") {
      service = told.service;
      describe();
      buttons();
      unfolded();
      gallery.splice(0, gallery.length, ...(told.gallery || []));
      show.desk.label(say, language);
      first(told.recording);
    } else if (/^(recording|unopened)$/.test(told.kind)) {
      if (told.n !== opening.n) return; // another has been asked for since
      clearTimeout(late);
      due.delete("recording");
      if (told.kind === "recording" && !show.open(told.events, told.meta, opening.t)) show.notice(() => say("file.busy"), "bad");
      if (told.kind === "unopened") instead(() => S.translated(told.sentence));
    } else if (told.kind === "shell") {
      shelled(told.html);
    } else if (told.kind === "loaded") {
      due.delete("load");
      service = told.service;
      describe();
      show.notice(() => S.translated(told.sentence), told.failed ? "bad" : "");
    }
  }

  /** The machine is no longer heard of: what there is of a run stays, and nothing is waited for. */
  function lost() {
    if (running) show.lost();
    else show.notice(() => S.translated(outside.unreached), "bad");
    clearTimeout(late);
    if (shell) unshelled();
    due.clear();
    idle();
  }
  root.addEventListener("pagehide", () => {
    // Gradio may have noticed before this page did, and told of a race that ended.
    if (!link || !(link.doubtful || show.cutOff) || !show.story.run || show.meta) return;
    S.connection.keep({ lines: S.recording.format(S.fold.whole(show.story)), t: show.controls.now, cut: show.cutOff || running });
  });

  /** The run that was on the page when its connection was lost; false where there was none. */
  function reopened() {
    const left = S.connection.kept();
    if (!left || !show.open(left.events, null, left.t)) return false;
    if (left.cut) show.notice(() => S.translated(outside.unreached), "bad");
    return true;
  }

  /** What a visitor sees first: what a lost connection left, else the recording that the address names, else the bundled one. */
  function first(recording) {
    const { name, t } = S.share.asked(location.search);
    bundled = recording;
    if (show.mode !== "empty" || reopened()) return;
    if (gallery.some((one) => one.name === name)) show.desk.named(name, t);
    else instead(name === null ? null : () => say("file.none", { name: S.words.shortened(name, 60) }));
  }

  /** Why what was asked for is not there; on an empty page the bundled recording is, in its place. */
  function instead(words) {
    if (bundled) show.recording(bundled);
    if (words) show.notice(words, "bad");
  }

  /** One line on what is loaded, and on an empty page what to do. */
  function describe() {
    if (!about) return;
    let text = "";
    if (service && service.loaded) {
      const kind = String(service.device || "").toUpperCase();
      const device = service.device_name && service.device_name !== service.device ? `${kind} (${service.device_name})` : kind;
      text = say("ready.model", { model: service.model, device: [device, service.dtype].filter(Boolean).join(", ") });
      if (service.note) text += " " + S.translated(service.note);
    } else if (service) text = say(service.public ? "ready.nomodel" : "ready.nomodel.load");
    about.textContent = text;
    if (show) show.hint(service ? say(service.loaded ? "empty" : "empty.nomodel") : "");
  }

  function buttons() {
    const race = document.getElementById("slip-race"), stop = document.getElementById("slip-stop");
    if (!race || !stop) return;
    const [open, shut] = running ? [stop, race] : [race, stop];
    open.disabled = link.deaf; // until Gradio reloads the page a press would reach nobody
    S.draw.passFocus(shut, open);
    shut.disabled = true;
  }
  // A key that is held down is not to press the two in turn.
  root.addEventListener("keydown", (event) => {
    if (event.repeat && event.key === "Enter" && event.target.closest("#slip-race, #slip-stop")) event.preventDefault();
  });

  /** What is told of the settings' button: what it opens, and whether that is open. */
  function unfolded() {
    const more = document.getElementById("slip-more");
    more.setAttribute("aria-controls", "slip-settings");
    more.setAttribute("aria-expanded", String(document.getElementById("slip-settings").classList.contains("open")));
  }

  /** Gradio asks for animation frames all the time (see ui/early.py): it gets them while somebody acts. */
  function wake() {
    root.slipstreamCalm = running;
    clearTimeout(resting);
    resting = setTimeout(() => { root.slipstreamCalm = true; }, 2000);
  }
  for (const act of ["pointerdown", "keydown"]) root.addEventListener(act, wake, { capture: true, passive: true });
  wake();

  function idle() {
    running = false;
    wake();
    clearTimeout(waiting);
    buttons();
  }

  S.page = {
    header, examples, thinking, view, player: null,

    /** Words for Gradio's controls, as updates in their order. */
    labels(keys) {
      return keys.map((props) => {
        const update = { __type__: "update" };
        for (const name in props) update[name] = name === "choices" ? choices(props[name]) : say(props[name]);
        return update;
      });
    },

    chosenPrompt: () => [chosen],
    /** What the player asks the machine for: events that were lost on the way, a recording, an empty page. */
    missing: () => [JSON.stringify(asking.shift() || {})],

    /** Open or close the settings. */
    settings() {
      document.getElementById("slip-settings").classList.toggle("open");
      unfolded();
      return [];
    },

    /** Race was pressed: the settings go on to the machine. */
    asked(settings) {
      running = true;
      wake();
      buttons();
      show.expect();
      show.notice();
      clearTimeout(waiting);
      waiting = setTimeout(() => show.notice(() => say("waiting"), "wait"), WAIT);
      return settings;
    },

    stopped() {
      if (running) show.stop();
      idle();
      return [];
    },

    /** The race is over. `why`: the key of a sentence, where Gradio could not even begin it. */
    ended(why) {
      if (running) show.ended(words.en[why]);
      idle();
      return [];
    },

    /** Gradio still listens: see connection.js. */
    answered() {
      link.answered();
      return [];
    },

    loading(spec) {
      due.add("load");
      show.notice(() => say("loading", { model: S.words.shortened(String(spec), 80) }), "wait");
      return [spec];
    },

    /** Gradio could not hand the model's name on. */
    unloaded() {
      due.delete("load");
      show.notice(() => say("error.untaken"), "bad");
      return [];
    },
  };

  function choices({ prefix, values }) {
    const offered = prefix === "lane." && service ? service.lanes : values;
    return offered.map((value) => [say.has(prefix + value) ? say(prefix + value) : value, value]);
  }
})(typeof globalThis !== "undefined" ? globalThis : this);

/* Starts the player where there is no server: in an exported page, or on a static site. */
(function (root) {
  "use strict";
  const S = (root.Slipstream = root.Slipstream || {});
  const { el } = S.draw;

  const holder = (name) => document.getElementById("slipstream-" + name);
  const words = JSON.parse(holder("words").textContent);
  const entries = holder("gallery") ? JSON.parse(holder("gallery").textContent) : [];
  const query = new URLSearchParams(location.search);
  const waiting = new Map(); // by the name of a recording: what to do with its text
  let opened = 0; // how many recordings have been asked for
  let language = S.words.firstLanguage(words, query.get("lang"), navigator.language);
  let say = S.words.dictionary(words[language], words.en);

  S.translated = (text) => S.words.translated(words.en, say, text);
  S.site = {
    /** Called by the script of a recording: its name, and its lines packed and in base64. */
    take(name, packed) {
      const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
      const ready = waiting.get(name);
      waiting.delete(name);
      if (ready) S.recording.read(new Blob([bytes])).then(ready);
    },
  };

  /**
   * Open a recording of the gallery: its script is loaded each time, and hands its text over.
   * `words`: gives what is to be said with it.
   */
  function open(name, t, words) {
    const meta = entries.find((one) => one.name === name), script = el("script"), n = (opened += 1);
    const ready = (found) => {
      if (n !== opened) return; // another has been asked for since
      if (found.events) player.open(found.events, meta, t);
      const told = found.events ? words : () => say(found.problem, found.values);
      if (told) player.notice(told, "bad");
    };
    waiting.set(name, ready);
    script.src = "recordings/" + encodeURIComponent(name) + ".js";
    script.addEventListener("load", () => script.remove());
    script.addEventListener("error", () => {
      script.remove();
      if (waiting.get(name) === ready) waiting.delete(name);
      if (n === opened) player.notice(() => say("file.none", { name }), "bad");
    });
    document.head.appendChild(script);
  }

  const page = document.documentElement, box = document.getElementById("slipstream");
  const dark = query.get("__theme") || (root.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  page.classList.toggle("dark", dark === "dark");
  const head = el("header"), title = el("h1", "", "Slipstream"), idea = el("p"), change = el("button"), stage = el("div");
  change.type = "button";
  head.append(title, idea, change);
  box.append(head, stage);
  const outside = {
    gallery: entries, open, plotly: () => (root.Plotly ? Promise.resolve(root.Plotly) : S.loaded("plotly.min.js", () => root.Plotly)),
  };
  const player = S.player(stage, say, language, outside);
  S.page = { player };

  function label() {
    page.lang = language;
    idea.textContent = say("idea");
    change.textContent = say("language.other");
    change.lang = S.words.otherLanguage(language);
    change.title = say("language.switch");
  }

  change.addEventListener("click", () => {
    language = change.lang;
    say = S.words.dictionary(words[language], words.en);
    S.share.keep("lang", language);
    label();
    player.setLanguage(say, language);
  });
  label();

  const { name: wanted, t: at } = S.share.asked(location.search), own = holder("recording");
  if (own) {
    const found = S.recording.parse(own.textContent);
    if (found.events) {
      outside.own = found.events[0].id;
      player.open(found.events, JSON.parse(holder("meta").textContent), at);
    } else player.notice(() => say(found.problem, found.values), "bad");
  } else if (entries.some((one) => one.name === wanted)) open(wanted, at);
  else if (!entries.length && wanted !== null) player.desk.named(wanted);
  else if (entries.length) open(entries[0].name, undefined, wanted === null ? null : () => say("file.none", { name: S.words.shortened(wanted, 60) }));
})(typeof globalThis !== "undefined" ? globalThis : this);

/* Keys of the player: what each does, and where a key is left to what has the focus. */
(function (root) {
  "use strict";
  const S = (root.Slipstream = root.Slipstream || {});

  const KEYS = [
    [["Space"], "play"], [["ArrowLeft"], "back"], [["ArrowRight"], "forward"], [["Home"], "home"], [["End"], "end"],
    [["["], "slower"], [["]"], "faster"], [["1", "2", "3", "4"], "lane"], [["p"], "present"], [["f"], "full"], [["?"], "help"], [["Escape"], "leave"],
  ];
  const IN_TEXT = [["Shift+←", "Shift+→"], "token"]; // while a lane's text has the focus: see lane.js
  // What has a use of its own for most keys; a button keeps Space, a slider its arrows.
  const WRITING = "input:not([type=range]):not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable], dialog";

  /** What a key stroke means, given what has the focus: the name of an action and a number, or null. Pure. */
  function action(event, target) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || event.isComposing) return null;
    const matches = (selector) => Boolean(target && target.closest && target.closest(selector));
    if (matches(WRITING)) return null;
    // With Hangul switched on a letter's key gives a Hangul letter; the place on the keyboard tells which it is.
    const typed = /^[\u3131-\u318e]$/.test(event.key) && /^Key[A-Z]$/.test(event.code) ? event.code.slice(3) : event.key;
    const key = typed === " " ? "Space" : typed.length === 1 ? typed.toLowerCase() : typed;
    const found = KEYS.find(([keys]) => keys.includes(key));
    if (!found) return null;
    const [keys, name] = found;
    if (name === "play" && matches("button, a, summary, input, [role=button], [role=tab]")) return null;
    if (/^(Arrow|Home|End)/.test(key) && matches("input[type=range], input[type=radio], .text, .lane-row, [role=slider], .js-plotly-plot")) return null;
    // A tree that is wider than its panel is scrolled by the arrows while it has the focus.
    const tree = /^Arrow/.test(key) && target && target.closest ? target.closest(".tree-scroll") : null;
    if (tree && tree.scrollWidth > tree.clientWidth) return null;
    return { name, n: keys.indexOf(key) };
  }

  /** The list of keys, in words: `[keys, what they do]` each. Pure. */
  const listed = (say) => [...KEYS.slice(0, 3), IN_TEXT, ...KEYS.slice(3)].map(([keys, name]) => [keys.map((key) => (say.has("key." + key) ? say("key." + key) : key)).join(" "), say("keys." + name)]);

  S.keys = { action, listed };
})(typeof globalThis !== "undefined" ? globalThis : this);

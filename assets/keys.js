/* Keys of the player: what each does, and where a key is left to what has the focus. */
(function (root) {
  "use strict";
  const S = (root.Slipstream = root.Slipstream || {});

  const KEYS = [
    [["Space"], "play"], [["ArrowLeft"], "back"], [["ArrowRight"], "forward"], [["Home"], "home"], [["End"], "end"],
    [["["], "slower"], [["]"], "faster"], [["1", "2", "3", "4"], "lane"], [["p"], "present"], [["f"], "full"], [["?"], "help"], [["Escape"], "leave"],
  ];
  // While a lane's text or the tree has the focus: see lane.js and draw.js.
  const INSIDE = [[["Shift+←", "Shift+→"], "token"], [["←", "→", "↑", "↓"], "node"]];
  // What has a use of its own for most keys; a button keeps Space, a slider its arrows.
  const WRITING = "input:not([type=range]):not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable], dialog";

  /** Whether nothing is held that makes another stroke of a key: Alt and an arrow is the browser's. Pure. */
  const plain = (event) => !(event.ctrlKey || event.metaKey || event.altKey);

  /** Where an arrow leads: -1, 1, or 0 for any other stroke. Pure. */
  const move = (event) => (plain(event) && { ArrowLeft: -1, ArrowRight: 1 }[event.key]) || 0;

  /** What a key stroke means, given what has the focus: the name of an action and a number, or null. Pure. */
  function action(event, target) {
    if (!plain(event) || event.defaultPrevented || event.isComposing) return null;
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
    return { name, n: keys.indexOf(key) };
  }

  /** The list of keys, in words: `[keys, what they do]` each. Pure. */
  const listed = (say) => [...KEYS.slice(0, 3), ...INSIDE, ...KEYS.slice(3)].map(([keys, name]) => [keys.map((key) => (say.has("key." + key) ? say("key." + key) : key)).join(" "), say("keys." + name)]);

  S.keys = { plain, move, action, listed };
})(typeof globalThis !== "undefined" ? globalThis : this);

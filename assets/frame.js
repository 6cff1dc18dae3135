/* The fixed frame of the player: its parts, and the words that do not change during a run. */
(function (root) {
  "use strict";
  const S = (root.Slipstream = root.Slipstream || {});
  const { el, put } = S.draw;
  const MARKS = ["retrieval", "logits", "both"], DRAFTED = ["prefix", "suffix"];

  function build(box) {
    const frame = el("div", "slip");
    frame.dataset.empty = "yes";
    const strip = el("div", "strip"), tag = el("span", "tag"), prompt = el("span", "prompt"), meta = el("span", "meta");
    const tools = el("span", "tools"), about = el("p", "told"), { ask, whole } = promptOf();
    strip.append(tag, prompt, ask, meta);
    strip.hidden = true;
    about.hidden = true;
    const notice = el("p", "notice"), hint = el("p", "hint");
    notice.hidden = true;
    const { legend, plain, marks, rejected } = legendOf();
    const lanes = el("section", "lanes"), say = el("p", "say"), results = el("section", "results");
    const tree = panel(), chart = panel(), time = panel(), row = el("div", "row");
    const follow = el("button", "toggle");
    follow.type = "button";
    follow.hidden = true;
    tree.head.appendChild(follow);
    time.root.classList.add("time-panel");
    row.append(tree.root, chart.root);
    const fair = el("p", "fair"), close = el("div", "close-ups"), foot = el("div", "foot-bar"), status = el("div", "unseen");
    status.setAttribute("role", "status");
    frame.append(tools, notice, hint, strip, whole, about, legend, lanes, say, results, row, time.root, close, fair, foot, status);
    box.replaceChildren(frame);
    return {
      root: frame, tools, about, close, strip, tag, prompt, ask, whole, meta, notice, hint, plain, marks, rejected, lanes, say, results, follow, fair, foot, status,
      treePanel: tree.root, treeTitle: tree.title, treeHow: tree.how, chartPanel: chart.root, chartTitle: chart.title,
      chartHow: chart.how, timePanel: time.root, timeTitle: time.title, timeHow: time.how,
    };
  }

  /** A button, and the whole prompt that it shows: the strip has room for the beginning. */
  function promptOf() {
    const ask = el("button", "toggle"), whole = el("div", "whole");
    ask.type = "button";
    whole.tabIndex = 0; // a long one scrolls
    whole.setAttribute("role", "group");
    whole.hidden = true;
    return { ask, whole };
  }

  function legendOf() {
    const legend = el("div", "legend"), plain = el("span", ""), rejected = el("button", "toggle");
    legend.appendChild(plain);
    const marks = [...MARKS, ...DRAFTED].map((source) => {
      const mark = el("span", "mark");
      mark.dataset.source = source;
      mark.appendChild(el("span", source));
      legend.appendChild(mark);
      return mark;
    });
    rejected.type = "button";
    rejected.setAttribute("aria-pressed", "false");
    legend.appendChild(rejected);
    return { legend, plain, marks, rejected };
  }

  function panel() {
    const made = el("section", "panel"), head = el("div", "panel-head"), title = el("h2", ""), how = el("p", "how");
    head.appendChild(title);
    made.append(head, how);
    return { root: made, head, title, how };
  }

  function label(parts, say) {
    put(parts.ask, say("prompt.label"));
    parts.whole.setAttribute("aria-label", say("prompt.label"));
    put(parts.plain, say("legend.plain"));
    for (const mark of parts.marks) {
      put(mark.firstChild, say("source." + mark.dataset.source));
      mark.title = say("source." + mark.dataset.source + ".help");
    }
    put(parts.rejected, say("rejected"));
    parts.rejected.title = say("rejected.help");
    put(parts.say, say("say.start"));
    put(parts.treeTitle, say("tree"));
    put(parts.treeHow, say("tree.how"));
    put(parts.follow, say("tree.pinned"));
    parts.follow.title = say("tree.pinned.help");
    put(parts.chartTitle, say("chart"));
    put(parts.chartHow, say("chart.how"));
    put(parts.timeTitle, say("timeline"));
    put(parts.timeHow, say("timeline.how"));
    put(parts.fair, say("fair"));
  }

  /** What depends on the kind of run: sources of drafts beside the thinking, taller lanes, the timeline's key. */
  function dress(parts, story) {
    const drafts = story.order.some((key) => /ssr/.test(key)), thinks = S.phases.thinks(story);
    for (const mark of parts.marks) mark.hidden = DRAFTED.includes(mark.dataset.source) && !drafts;
    parts.root.classList.toggle("thinks", Boolean(thinks));
    parts.root.classList.toggle("drafts", drafts && Boolean(thinks));
  }

  S.frame = { build, label, dress };
})(typeof globalThis !== "undefined" ? globalThis : this);

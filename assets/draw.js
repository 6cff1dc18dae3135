/* Elements and SVG, and the draft tree. Text goes in as text, never as markup. */
(function (root) {
  "use strict";
  const S = (root.Slipstream = root.Slipstream || {});
  const SVG = "http://www.w3.org/2000/svg";

  /** An HTML element with a class and text. */
  function el(tag, className, text) {
    const node = document.createElement(tag);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    return node;
  }

  /** Set a text only where it changed: an untouched node costs no layout. */
  function put(node, text) {
    if (node.textContent !== text) node.textContent = text;
  }

  /** Hand the focus of who uses keys on from a control that is about to hide or be disabled: else it would be lost. */
  function passFocus(from, to) {
    if (from.matches(":focus-visible")) to.focus({ preventScroll: true }); // after a click the keys are the player's
  }

  function svg(tag, attributes, text) {
    const node = document.createElementNS(SVG, tag);
    for (const name in attributes) node.setAttribute(name, attributes[name]);
    if (text !== undefined) node.textContent = text;
    return node;
  }

  const ICONS = {
    play: "M5 3.5v9l8-4.5z",
    pause: "M4.5 3.5h2.6v9H4.5zM8.9 3.5h2.6v9H8.9z",
    back: "M3.5 3.5h1.8v9H3.5zM12.5 3.5v9l-6.4-4.5z",
    forward: "M10.7 3.5h1.8v9h-1.8zM3.5 3.5v9L9.9 8z",
  };

  /** A 16 × 16 icon that takes the colour of its button. */
  function icon(name) {
    const image = svg("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true", focusable: "false" });
    image.appendChild(svg("path", { d: ICONS[name], fill: "currentColor" }));
    return image;
  }

  /**
   * Draws draft trees into `panel`, scaled to fit down to a size that can still be read, then scrolling.
   * `told(words)` is called with what a node is when it is reached by key, and with "" when it is left.
   */
  function treeView(panel, told) {
    const scroll = el("div", "tree-scroll");
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "group");
    const image = svg("svg", { class: "tree", role: "img" });
    const nothing = el("p", "nothing");
    scroll.append(image, nothing);
    panel.appendChild(scroll);
    const lines = svg("g", {}), boxes = svg("g", {});
    image.append(lines, boxes);
    const edges = edgePool(lines), nodes = nodePool(boxes);
    let drawn = null, walked = null; // walked: the node that the arrow keys are at
    // What a node is, in words: written when somebody asks.
    image.addEventListener("mouseover", (event) => {
      const group = event.target.closest ? event.target.closest("g.node") : null;
      if (!group || !drawn) return;
      put(group.querySelector("title") || group.insertBefore(svg("title", {}), group.firstChild), nodeTitle(group.node, drawn));
    });
    scroll.addEventListener("keydown", (event) => {
      if (!drawn || !/^Arrow/.test(event.key) || !S.keys.plain(event)) return;
      event.preventDefault(); // a large tree is scrolled by the walk itself
      walk(walked ? S.tree.beside(drawn.place.nodes, walked, event.key) : drawn.place.nodes[0]);
    });
    scroll.addEventListener("blur", () => walk(null));
    let roomX = 0, roomY = 0;

    /** Go to a node; null leaves the tree, undefined stays. */
    function walk(node) {
      if (node === undefined || node === walked) return;
      const groups = [...boxes.children], at = (one) => groups.find((group) => group.node === one);
      if (walked && at(walked)) at(walked).classList.remove("walked");
      walked = node;
      told(node ? nodeTitle(node, drawn) : "");
      if (!node) return;
      at(node).classList.add("walked");
      at(node).scrollIntoView({ block: "nearest", inline: "nearest" });
    }

    function show(step, say, label, moving) {
      const tree = step && step.tree;
      walk(null);
      set(scroll, { "aria-label": say("tree.walk") });
      const drawable = Boolean(tree) && tree.parents.length > 1;
      const display = drawable ? "" : "none";
      if (image.style.display !== display) image.style.display = display;
      if (nothing.hidden !== drawable) nothing.hidden = drawable;
      drawn = null;
      if (!drawable) {
        put(nothing, label);
        return;
      }
      const wrote = step.tokens.length > step.accepted ? step.tokens.length - 1 : -1;
      const place = S.tree.layout(tree, wrote < 0 ? null : step.pieces[wrote]);
      drawn = { tree, step, wrote, say, place };
      drawEdges(edges, place);
      drawNodes(nodes, place);
      set(image, { "aria-label": label });
      fit(place, moving);
    }

    /** The room there is; read once, since reading it makes the browser lay out the page. */
    function measure() {
      roomX = scroll.clientWidth - 4;
      roomY = scroll.clientHeight - 4;
    }

    function fit(place, moving) {
      if (!roomX || roomX < 0) measure();
      const scale = Math.max(0.66, Math.min(1, roomX / place.width, roomY / place.height));
      const over = place.height * scale > roomY || place.width * scale > roomX;
      if (over && moving) {
        // A tree that is about to be replaced is cut around its path: scrolling would cost a layout.
        set(image, { viewBox: `0 ${place.path - roomY / scale / 2} ${roomX / scale} ${roomY / scale}`, width: roomX, height: roomY });
        return;
      }
      set(image, {
        viewBox: `0 0 ${place.width} ${place.height}`, width: Math.round(place.width * scale), height: Math.round(place.height * scale),
      });
      if (!over) return;
      scroll.scrollTop = place.path * scale - roomY / 2;
      scroll.scrollLeft = 0;
    }
    return { show, measure, root: scroll };
  }

  /** Sets attributes only where they differ: an untouched element costs nothing. */
  function set(node, attributes) {
    const known = node.known || (node.known = {});
    for (const name in attributes) {
      if (known[name] === attributes[name]) continue;
      known[name] = attributes[name];
      node.setAttribute(name, attributes[name]);
    }
    return node;
  }

  /** A pool of elements inside `group`: `next()` hands them out again, `end()` hides the rest. */
  function pool(group, make) {
    const made = [];
    let used = 0, shown = 0;
    return {
      start() { used = 0; },
      next() {
        if (used === made.length) made.push(make());
        const item = made[used];
        if (used >= shown) group.appendChild(item.root);
        used += 1;
        return item;
      },
      end() {
        for (let i = used; i < shown; i += 1) made[i].root.remove();
        shown = used;
      },
    };
  }

  function edgePool(group) {
    return pool(group, () => ({ root: svg("path", {}) }));
  }

  function nodePool(group) {
    return pool(group, () => {
      const item = { root: svg("g", {}), box: svg("rect", { rx: 11, height: 22 }), inner: svg("rect", { class: "inner", rx: 8, height: 16 }), text: svg("text", { "text-anchor": "middle" }) };
      item.words = document.createTextNode("");
      item.text.appendChild(item.words);
      item.root.append(item.box, item.inner, item.text);
      return item;
    });
  }

  function drawEdges(edges, place) {
    edges.start();
    for (const edge of place.edges.slice().sort((a, b) => Number(a.accepted) - Number(b.accepted))) {
      const middle = (edge.x1 + edge.x2) / 2;
      set(edges.next().root, {
        class: edge.accepted ? "edge kept " + edge.source : "edge",
        d: edge.y1 === edge.y2 ? `M${edge.x1} ${edge.y1}H${edge.x2}` : `M${edge.x1} ${edge.y1}C${middle} ${edge.y1} ${middle} ${edge.y2} ${edge.x2} ${edge.y2}`,
      });
    }
    edges.end();
  }

  function drawNodes(nodes, place) {
    nodes.start();
    for (const node of place.nodes) {
      const item = nodes.next();
      item.root.node = node;
      set(item.root, { class: "node " + node.source + (node.accepted ? " kept" : "") });
      set(item.box, { x: node.x, y: node.y - 11, width: node.width });
      const both = node.source === "both";
      set(item.inner, { x: node.x + 3, y: node.y - 8, width: both ? node.width - 6 : 0 });
      set(item.text, { x: node.x + node.width / 2, y: node.y + 4 });
      if (item.words.data !== node.label) item.words.data = node.label;
    }
    nodes.end();
  }

  function nodeTitle(node, { tree, step, wrote, say }) {
    const piece = S.words.visible(node.i < 0 ? step.pieces[wrote] : tree.pieces[node.i], 40);
    if (node.i < 0) return say("node.bonus", { piece, id: step.tokens[wrote] });
    if (node.i === 0) return say("node.root", { piece, id: tree.tokens[0] });
    const facts = [say("node", { piece, id: tree.tokens[node.i], rank: tree.ranks[node.i] + 1, source: say("source." + tree.sources[node.i]) })];
    if (tree.counts[node.i] > 0) facts.push(say("node.count", { n: tree.counts[node.i] }));
    facts.push(say(node.accepted ? "node.accepted" : "node.rejected"));
    return facts.join(" · ");
  }

  /** A round step for about `wanted` ticks up to `most`. */
  function tickStep(most, wanted) {
    const raw = most / wanted;
    const power = Math.pow(10, Math.floor(Math.log10(raw)));
    for (const times of [1, 2, 5, 10]) if (raw <= times * power) return times * power;
    return 10 * power;
  }

  /** About how wide words are in the charts' letters: a little too much rather than too little. */
  function textWidth(words) {
    let width = 0;
    for (const part of S.words.graphemes(words)) width += /[A-Z+]/.test(part) ? 9.2 : /[\u0000-\u02ff]/.test(part) ? 7 : 13;
    return width;
  }

  /** Rising places moved down until they are `apart`, and up again where they would pass `lowest`. Pure. */
  function spread(places, apart, lowest) {
    const moved = [];
    for (const place of places) moved.push(moved.length ? Math.max(place, moved[moved.length - 1] + apart) : place);
    for (let i = moved.length - 1, most = lowest; i >= 0; i -= 1, most -= apart) moved[i] = Math.min(moved[i], most);
    return moved;
  }

  /** A lane's name in the reader's language; an unknown lane shows its key. */
  function laneName(say, key) {
    return say.has("lane." + key) ? say("lane." + key) : key;
  }

  S.nodeTitle = nodeTitle;
  S.draw = { el, put, passFocus, svg, set, pool, icon, treeView, tickStep, textWidth, spread, laneName };
})(typeof globalThis !== "undefined" ? globalThis : this);

/* Where the nodes of a draft tree go. Pure: measures in, places out. */
(function (root) {
  "use strict";
  const S = (root.Slipstream = root.Slipstream || {});

  const ROW = 26, GAP = 34, PAD = 10, CHARACTER = 7.4, WIDE = 13;

  /** Width of a label in the tree's mono type; Hangul, kana, hanja and emoji are wide. */
  function labelWidth(label) {
    let width = 0;
    for (const part of S.words.graphemes(label)) {
      width += /[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uff60]|\p{Extended_Pictographic}/u.test(part) ? WIDE : CHARACTER;
    }
    return Math.max(width, CHARACTER * 2) + PAD * 2;
  }

  /**
   * Place the nodes. The accepted path runs straight along row 0 and ends in the token
   * the model wrote itself (`bonus`, node -1); rejected branches stack above and below.
   * Branches are laid from the end of the path to its start, each as near to the path as
   * the columns it passes allow, so no two nodes share a place and no edges cross.
   */
  function layout(tree, bonus) {
    const size = tree.parents.length;
    const children = Array.from({ length: size }, () => []);
    for (let i = 1; i < size; i += 1) children[tree.parents[i]].push(i);
    const depth = new Array(size).fill(0), row = new Array(size).fill(0);
    for (let i = 1; i < size; i += 1) depth[i] = depth[tree.parents[i]] + 1;
    const onPath = new Set(tree.path);
    const end = tree.path[tree.path.length - 1];
    const columns = Math.max(...depth, bonus === null ? 0 : depth[end] + 1) + 1;
    const above = new Array(columns).fill(1), below = new Array(columns).fill(1);
    for (let p = tree.path.length - 1; p >= 0; p -= 1) {
      const off = children[tree.path[p]].filter((child) => !onPath.has(child));
      for (const child of off) placeBranch(child, children, depth, row, above, below);
    }
    return measured(tree, bonus, depth, row, columns, onPath, end);
  }

  /** Lay one rejected branch on the side where it stays nearer to the path. */
  function placeBranch(top, children, depth, row, above, below) {
    const members = [];
    const rows = new Map();
    let next = 0;
    (function visit(node) {
      members.push(node);
      if (!children[node].length) rows.set(node, next++);
      else {
        children[node].forEach(visit);
        const first = rows.get(children[node][0]), final = rows.get(children[node][children[node].length - 1]);
        rows.set(node, (first + final) / 2);
      }
    })(top);
    const offset = (taken) => {
      // Row 0 of the branch lies next to the path, its further rows outwards.
      let shift = 1;
      for (const node of members) shift = Math.max(shift, taken[depth[node]] - rows.get(node));
      return Math.ceil(shift);
    };
    const up = offset(above), down = offset(below);
    const [shift, sign, taken] = up < down ? [up, -1, above] : [down, 1, below];
    for (const node of members) row[node] = sign * (rows.get(node) + shift);
    for (const node of members) taken[depth[node]] = Math.max(taken[depth[node]], Math.abs(row[node]) + 1);
  }

  function measured(tree, bonus, depth, row, columns, onPath, end) {
    const labels = tree.pieces.map((piece) => S.words.visible(piece, 14));
    const widths = labels.map(labelWidth);
    const nodes = labels.map((label, i) => ({
      i, label, width: widths[i], depth: depth[i], row: row[i], parent: tree.parents[i], source: i ? tree.sources[i] : "root", accepted: onPath.has(i),
    }));
    if (bonus !== null) {
      const label = S.words.visible(bonus, 14);
      nodes.push({ i: -1, label, width: labelWidth(label), depth: depth[end] + 1, row: 0, parent: end, source: "bonus", accepted: true });
    }
    const broadest = new Array(columns).fill(0);
    for (const node of nodes) broadest[node.depth] = Math.max(broadest[node.depth], node.width);
    const left = [];
    let x = 1.5;
    for (let column = 0; column < columns; column += 1) {
      left.push(x);
      x += broadest[column] + GAP;
    }
    const lowest = Math.min(...nodes.map((node) => node.row));
    const highest = Math.max(...nodes.map((node) => node.row));
    for (const node of nodes) {
      node.x = left[node.depth];
      node.y = (node.row - lowest) * ROW + ROW / 2 + 2;
    }
    const place = new Map(nodes.map((node) => [node.i, node]));
    const edges = nodes.filter((node) => node.parent >= 0 && node.i !== 0).map((node) => {
      const from = place.get(node.parent);
      return { x1: from.x + from.width, y1: from.y, x2: node.x, y2: node.y, accepted: node.accepted && from.accepted, source: node.source };
    });
    return { nodes, edges, width: x - GAP + 1.5, height: (highest - lowest + 1) * ROW + 4, path: ROW / 2 + 2 - lowest * ROW };
  }

  /**
   * The node that an arrow key leads to: the parent, a child (the accepted one, else the nearest)
   * or the next one of the column; undefined where there is none. Pure.
   */
  function beside(nodes, from, key) {
    const nearest = (found) => found.sort((a, b) => Number(b.accepted) - Number(a.accepted) || Math.abs(a.y - from.y) - Math.abs(b.y - from.y))[0];
    // Node -1 is the token the model wrote, and "none" as a parent: the root has none, that token no child.
    if (key === "ArrowLeft") return from.i === 0 ? undefined : nodes.find((one) => one.i === from.parent);
    if (key === "ArrowRight") return from.i < 0 ? undefined : nearest(nodes.filter((one) => one.parent === from.i));
    const column = nodes.filter((one) => one.depth === from.depth && (key === "ArrowUp" ? one.y < from.y : one.y > from.y));
    return column.sort((a, b) => Math.abs(a.y - from.y) - Math.abs(b.y - from.y))[0];
  }

  S.tree = { layout, beside, ROW };
})(typeof globalThis !== "undefined" ? globalThis : this);

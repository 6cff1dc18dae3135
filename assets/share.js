/* What can be taken away from a run: recording, table, pictures, link. */
(function (root) {
  "use strict";
  const S = (root.Slipstream = root.Slipstream || {});
  const COLUMNS = ["lane", "forward", "phase", "start_s", "seconds", "draft_s", "forward_s", "other_s", "tokens", "drafted", "accepted", "branch_rows", "text", "sources"];

  /**
   * A cell. A step's text is a JSON string; what else a recording names in its own words (a lane)
   * gets a quotation mark in front where a spreadsheet would take it for a formula.
   */
  function cell(value) {
    const words = typeof value === "number" ? String(value) : String(value).replace(/^(?=[=+\-@\t\r])/, "'");
    return /[",\r\n]/.test(words) ? '"' + words.replace(/"/g, '""') + '"' : words;
  }

  /** Every step of every lane as comma-separated values. Pure. */
  function csv(story) {
    const rows = [COLUMNS];
    for (const key of story.order) {
      for (const step of story.lanes.get(key).steps) {
        rows.push([
          key, step.index + 1, step.phase, step.start, step.seconds, step.draft, step.forward, step.other, step.tokens.length,
          step.drafted, step.accepted, step.branch || 0, JSON.stringify(step.pieces.join("")), step.sources.join(" "),
        ]);
      }
    }
    return rows.map((row) => row.map(cell).join(",") + "\r\n").join("");
  }

  /** A file name from a run: its title or prompt in plain letters, and its id. Pure. */
  function fileName(run, ending) {
    const plain = (text) => Array.from(String(text || "").normalize("NFC").replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "")).slice(0, 40).join("");
    return [plain(run.title || run.prompt) || "run", plain(run.id)].filter(Boolean).join("-").toLowerCase() + ending;
  }

  /** Hand a blob to the visitor as a file. */
  function save(blob, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  /** The page's own styles, as text: in a picture nothing can be looked up. */
  function styles() {
    return Array.from(document.styleSheets).flatMap((sheet) => {
      try {
        const rules = Array.from(sheet.cssRules);
        return rules.some((rule) => /\.slip\b/.test(rule.cssText)) ? rules.map((rule) => rule.cssText) : [];
      } catch (error) {
        if (error.name !== "SecurityError") throw error; // a sheet of another host: none of ours
        return [];
      }
    }).join("\n");
  }

  /** Text that XML can hold: a model may write control characters and halves of pairs, which end a picture. Pure. */
  const printable = (text) => text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu, "\ufffd");

  /** A copy that shows what is in sight: a copied box is scrolled back to where it began. */
  function inSight(node) {
    const copy = node.cloneNode(true), copies = copy.querySelectorAll("*");
    node.querySelectorAll("*").forEach((box, i) => {
      if (!box.scrollTop && !box.scrollLeft) return;
      for (const child of copies[i].children) child.style.transform = `translate(${-box.scrollLeft}px, ${-box.scrollTop}px)`;
    });
    return copy;
  }

  /** A part of the page as a PNG: what of it is in sight, at twice its size, on its paper. */
  async function picture(node) {
    const { width, height } = node.getBoundingClientRect(), room = 16;
    const paper = getComputedStyle(node).getPropertyValue("--paper").trim() || "#fff";
    const shell = document.createElement("div");
    shell.setAttribute("xmlns", "http://www.w3.org/1999/xhtml");
    shell.className = [document.body, document.documentElement].some((one) => one.classList.contains("dark")) ? "dark" : "";
    const inner = document.createElement("div");
    inner.className = node.closest(".slip").className;
    inner.style.cssText = `padding:${room}px;background:${paper};width:${width + 2 * room}px;--lanes:${node.closest(".slip").style.getPropertyValue("--lanes")}`;
    inner.appendChild(inSight(node));
    shell.append(inner);
    const style = document.createElement("style");
    style.textContent = styles() + ".slip .lane,.slip .panel,.slip .text{contain:none!important}.slip .block{content-visibility:visible!important}";
    shell.prepend(style);
    const markup = printable(new XMLSerializer().serializeToString(shell));
    const [w, h] = [Math.ceil(width + 2 * room), Math.ceil(height + 2 * room)];
    const image = new Image();
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(
      `<svg xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}"><foreignObject width="100%" height="100%">${markup}</foreignObject></svg>`,
    );
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [2 * w, 2 * h];
    const pen = canvas.getContext("2d");
    pen.scale(2, 2);
    pen.drawImage(image, 0, 0);
    return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png"));
  }

  /** The address of this moment of a bundled recording; without a name, of the run that is in the page itself. Pure. */
  function link(address, name, t) {
    const url = new URL(address);
    for (const key of ["run", "t"]) url.searchParams.delete(key);
    if (name) url.searchParams.set("run", name);
    // Rounded up: a moment is mostly the end of a step, and just before it the step is not there.
    url.searchParams.set("t", String(Math.ceil(t * 1e4 - 1e-6) / 1e4));
    return url.toString();
  }

  /** What an address asks for: a recording's name, and its moment in lane seconds. Pure. */
  function asked(search) {
    const query = new URLSearchParams(search), t = query.get("t");
    return { name: query.get("run"), t: t === null || t === "" ? undefined : Number(t) };
  }

  /** Keep a setting of the page in its address; null takes it out. */
  function keep(setting, value) {
    const url = new URL(location.href);
    if (value === null) url.searchParams.delete(setting);
    else url.searchParams.set(setting, value);
    history.replaceState(history.state, "", url);
  }

  S.share = { csv, fileName, save, picture, link, asked, keep, printable };
})(typeof globalThis !== "undefined" ? globalThis : this);

/* What opens above the player: recordings, saving, the list of keys. Native dialogs: Escape and focus are the browser's. */
(function (root) {
  "use strict";
  const S = (root.Slipstream = root.Slipstream || {});
  const { el } = S.draw;

  /** An empty dialog with a heading and a way out. */
  function dialog(parent, className) {
    const box = el("dialog", "dialog " + className), head = el("div", "dialog-head"), title = el("h2", ""), close = el("button", "toggle"), body = el("div", "dialog-body");
    close.type = "button";
    title.id = "slip-" + className;
    box.setAttribute("aria-labelledby", title.id);
    close.addEventListener("click", () => box.close());
    // A click on the backdrop lands on the dialog itself.
    box.addEventListener("click", (event) => { if (event.target === box) box.close(); });
    head.append(title, close);
    box.append(head, body);
    parent.appendChild(box);
    const name = (say, key) => {
      title.textContent = say(key);
      close.textContent = say("close");
    };
    return { box, name, body, open: () => { if (!box.open) box.showModal(); } };
  }

  /** The keys, and what each does. */
  function help(parent) {
    const made = dialog(parent, "keys-dialog"), list = el("dl", "keys");
    made.body.appendChild(list);
    return {
      ...made,
      label(say) {
        made.name(say, "keys");
        list.replaceChildren(...S.keys.listed(say).map(([keys, what]) => {
          const row = el("div", "");
          row.append(el("dt", "", keys), el("dd", "", what));
          return row;
        }));
      },
    };
  }

  /** Bundled recordings as cards, and a way to open a file. `hooks`: open(name), file(file). */
  function gallery(parent, entries, hooks) {
    const made = dialog(parent, "gallery-dialog"), grid = el("div", "gallery"), own = el("p", "own"), words = el("span", ""), pick = el("button", "toggle"), input = el("input", "");
    input.type = "file";
    input.accept = ".jsonl,.gz,application/gzip";
    input.hidden = true;
    pick.type = "button";
    pick.addEventListener("click", () => input.click());
    input.addEventListener("change", () => {
      if (input.files.length) hooks.file(input.files[0]);
      input.value = "";
      made.box.close();
    });
    own.append(words, pick, input);
    made.body.append(grid, own);
    return {
      ...made,
      label(say, language) {
        made.name(say, "gallery");
        words.textContent = say("gallery.own");
        pick.textContent = say("gallery.file");
        const inOwn = (text) => text[language] || text.en || "";
        grid.replaceChildren(...entries.map((entry) => {
          const card = el("button", "gallery-card");
          card.type = "button";
          card.append(el("strong", "", inOwn(entry.title)), el("span", "", inOwn(entry.about)));
          card.addEventListener("click", () => {
            made.box.close();
            hooks.open(entry.name);
          });
          return card;
        }));
      },
    };
  }

  /** What can be saved of the run. `items`: keys of `save.…`; `hooks.save(key)`. */
  function saving(parent, items, hooks) {
    const made = dialog(parent, "save-dialog"), list = el("div", "save-list");
    made.body.appendChild(list);
    return {
      ...made,
      label(say) {
        made.name(say, "save");
        list.replaceChildren(...items.map((key) => {
          const item = el("button", "save-item");
          item.type = "button";
          item.append(el("strong", "", say("save." + key)), el("span", "", say("save." + key + ".help")));
          item.addEventListener("click", () => {
            made.box.close();
            hooks.save(key);
          });
          return item;
        }));
      },
    };
  }

  S.dialogs = { help, gallery, saving };
})(typeof globalThis !== "undefined" ? globalThis : this);

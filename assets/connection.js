/* Whether the machine is still heard of, and what is kept of a run where Gradio reloads the page. */
(function (root) {
  "use strict";
  const S = (root.Slipstream = root.Slipstream || {});
  const BEAT = 400; // milliseconds between looks
  const SILENT = 600; // milliseconds without a word after which Gradio is asked whether it still listens
  const DEAF = 3; // times it may leave that unanswered: a busy page is late
  const QUIET = 5000; // milliseconds after which the server is asked, and again; it has as long to answer
  const OWN = "slipstream/plotly.min.js"; // ui/files.py answers for it alone: no queue, no model
  const PLACE = "slipstream-run";

  /**
   * Looks after the connection while `awaited()`. Silence alone means nothing: a machine at work
   * may be silent for long. But Gradio, once it has lost the server, runs no event any more, waits
   * for the server to come back and then reloads the page. `poke()` sets off an event that does
   * nothing but call `answered()`; `lost()` is called when that is never called, or when the server
   * cannot be reached. Call `heard()` with every message.
   */
  S.connection = function connection({ awaited, poke, lost }) {
    let at = 0, asked = 0, poked = 0, failed = 0;
    const made = {
      deaf: false, // Gradio has given up: only a reload brings it back
      /** Whether a reload that comes now is for a lost connection. */
      get doubtful() { return made.deaf || poked > 0; },
      heard() {
        at = performance.now();
        poked = failed = 0;
      },
      answered() { poked = 0; },
    };

    function look() {
      if (made.deaf || !awaited()) return made.heard();
      const now = performance.now();
      if (now - at < SILENT) return;
      if (poked === DEAF) {
        made.deaf = true;
        return lost();
      }
      poked += 1;
      poke();
      if (now - Math.max(at, asked) < QUIET) return;
      asked = now;
      ask();
    }

    async function ask() {
      try {
        const { ok } = await fetch(OWN, { method: "HEAD", cache: "no-store", signal: AbortSignal.timeout(QUIET) });
        failed = ok ? 0 : failed + 1;
      } catch (error) {
        failed += 1; // no network, or no answer in time
      }
      // Once may be a moment's trouble.
      if (failed > 1 && awaited()) lost();
    }
    setInterval(look, BEAT);
    return made;
  };

  /** Keep what is on the page over a reload: `lines` of a recording, the time `t`, whether it was `cut` off. */
  S.connection.keep = function keep(run) {
    try {
      sessionStorage.setItem(PLACE, JSON.stringify(run));
    } catch (error) {
      console.warn(error); // too large, or nothing may be stored here
    }
  };

  /** What was kept, once: `{ events, t, cut }`, or null. */
  S.connection.kept = function kept() {
    try {
      const text = sessionStorage.getItem(PLACE);
      sessionStorage.removeItem(PLACE);
      const { lines, t, cut } = JSON.parse(text) || {}, { events } = S.recording.parse(lines || "");
      return events && { events, t, cut };
    } catch (error) {
      console.warn(error);
      return null;
    }
  };
})(typeof globalThis !== "undefined" ? globalThis : this);

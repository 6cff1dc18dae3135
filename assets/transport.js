/* Play, pause, steps, position and speed, for recordings and finished runs. Knows times only. */
(function (root) {
  "use strict";
  const S = (root.Slipstream = root.Slipstream || {});
  const { el, icon, passFocus } = S.draw;
  const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4];
  const FRAME = 60; // milliseconds: text that moves faster cannot be read anyway

  /** `hooks`: moved(t), step(direction, t) → t; of a live run length() and settled(), as in fold.js. Times are lane seconds; Infinity is the end. */
  function transport(hooks) {
    const bar = el("div", "transport");
    bar.setAttribute("role", "group");
    const back = button("back"), play = button("play"), forward = button("forward");
    play.classList.add("play");
    const speed = el("select", "speed");
    for (const value of SPEEDS) {
      const option = el("option", "", value + "×");
      option.value = String(value);
      speed.appendChild(option);
    }
    speed.value = "1";
    const scrub = el("input", "scrub");
    scrub.type = "range";
    scrub.min = "0";
    scrub.max = "1000";
    scrub.step = "1";
    scrub.value = "0";
    const time = el("span", "time"), note = el("span", "time-note");
    bar.append(back, play, forward, speed, scrub, time, note);

    const newest = el("button", "toggle newest");
    newest.type = "button";
    newest.hidden = true;
    bar.insertBefore(newest, time);
    let t = Infinity, total = 0, timer = 0, wall = 0, enabled = false, live = false, say = null, computed = 0;

    function button(name) {
      const made = el("button", "icon-button");
      made.type = "button";
      made.appendChild(icon(name));
      return made;
    }

    const now = () => Math.min(t, total);

    function seek(value, quiet) {
      t = value >= total ? Infinity : Math.max(0, value);
      draw();
      dress();
      if (!quiet) hooks.moved(t);
    }

    /** A run that goes on tells its length seldom; what must not fall behind what is shown asks for it. */
    function grow() {
      if (live) total = Math.max(total, hooks.length());
    }

    /** Stay where a live run is now, while it goes on: at a moment that no lane adds to. */
    function hold() {
      grow();
      t = hooks.settled();
      draw();
      dress();
      hooks.moved(t);
    }

    function tick() {
      const stamp = performance.now();
      const passed = ((stamp - wall) / 1000) * Number(speed.value);
      wall = stamp;
      seek(now() + passed);
      if (t === Infinity) pause();
      else timer = setTimeout(tick, FRAME);
    }

    function start() {
      if (!enabled || timer) return;
      if (t === Infinity && live) return;
      if (t === Infinity) seek(0);
      wall = performance.now();
      timer = setTimeout(tick, FRAME);
      dress();
    }

    function pause() {
      clearTimeout(timer);
      timer = 0;
      dress();
    }

    /** Whether time passes: it is played, or the newest of a live run is followed. */
    const moving = () => timer !== 0 || (live && t === Infinity);
    let dressed = "";

    function dress() {
      const name = moving() ? "pause" : "play", behind = live && t !== Infinity;
      if (!behind) passFocus(newest, play);
      if (newest.hidden === behind) newest.hidden = !behind;
      const words = say ? say(name) : "";
      if (dressed === name + words) return;
      dressed = name + words;
      play.replaceChildren(icon(name));
      play.title = words;
      play.setAttribute("aria-label", words);
    }

    function draw() {
      const share = total > 0 ? (now() / total) * 1000 : 0;
      scrub.value = String(share);
      scrub.style.setProperty("--at", (share / 10).toFixed(2) + "%");
      if (!say) return;
      const words = say("time", { now: S.words.seconds(now()), total: S.words.seconds(total) });
      if (time.textContent !== words) time.textContent = words;
      scrub.setAttribute("aria-valuetext", words);
    }

    function toggle() {
      if (!enabled) return;
      if (timer) pause();
      else if (moving()) hold();
      else start();
    }

    /** One step back or on, in the chosen lane. */
    function step(direction) {
      if (!enabled) return;
      pause();
      grow();
      seek(hooks.step(direction, now()));
    }

    /** To the beginning (0) or the end (Infinity). */
    function jump(value) {
      if (!enabled) return;
      pause();
      seek(value);
    }

    /** One speed slower or faster. */
    function quicken(direction) {
      const place = SPEEDS.indexOf(Number(speed.value)) + direction;
      if (place >= 0 && place < SPEEDS.length) speed.value = String(SPEEDS[place]);
    }

    play.addEventListener("click", toggle);
    back.addEventListener("click", () => step(-1));
    forward.addEventListener("click", () => step(1));
    newest.addEventListener("click", () => jump(Infinity));
    scrub.addEventListener("input", () => jump((Number(scrub.value) / 1000) * total));

    /** What there is to play: its length, what it took to compute, and whether it is still growing. */
    function setLength(length, sum, growing) {
      total = length;
      computed = sum;
      live = growing;
      enabled = total > 0;
      for (const control of [back, play, forward, speed, scrub]) if (control.disabled === enabled) control.disabled = !enabled;
      words();
      draw();
      dress();
    }

    function words() {
      if (!say) return;
      const text = say("time.lane") + (computed ? " · " + say("time.compute", { n: S.words.tenths(computed) }) : "");
      if (note.textContent !== text) note.textContent = text;
    }

    function language(next) {
      say = next;
      newest.textContent = say("live.newest");
      for (const option of speed.options) option.textContent = option.value === "1" ? say("speed.true") : option.value + "×";
      for (const [control, key] of [[back, "back"], [forward, "forward"], [scrub, "scrub"], [speed, "speed"]]) {
        control.title = say(key);
        control.setAttribute("aria-label", say(key));
      }
      dress();
      words();
      draw();
    }
    return { bar, seek, start, pause, toggle, step, jump, quicken, setLength, language, get t() { return t; }, get playing() { return timer !== 0; }, get now() { return now(); } };
  }

  S.transport = transport;
})(typeof globalThis !== "undefined" ? globalThis : this);

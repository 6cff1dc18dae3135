/* Words and numbers: dictionary look-up, sentences, visible white space. Pure; no page needed. */
(function (root) {
  "use strict";
  const S = (root.Slipstream = root.Slipstream || {});

  /** A dictionary: `say(key, values)` fills {name} places; a missing key falls back to English, then to itself. */
  function dictionary(words, fallback) {
    const has = (key) => Object.prototype.hasOwnProperty.call(words, key);
    const raw = (key) => (has(key) ? words[key] : fallback && Object.prototype.hasOwnProperty.call(fallback, key) ? fallback[key] : undefined);
    function say(key, values) {
      let text = values && values.n === 1 ? raw(key + "_one") : undefined;
      if (text === undefined) text = raw(key);
      if (text === undefined) return key;
      if (!values) return text;
      // One pass, so that a value which itself contains {braces} is left alone.
      return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
    }
    say.has = (key) => raw(key) !== undefined;
    say.own = has;
    return say;
  }

  /** What stands in the {name} places of a sentence, or null if it is another one. */
  function filled(template, text) {
    const pattern = template.split(/\{(\w+)\}/).map((part, i) => (i % 2 ? `(?<${part}>.+?)` : part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"))).join("");
    const found = new RegExp("^" + pattern + "$", "s").exec(text);
    return found ? found.groups || {} : null;
  }

  const LONGEST = 500; // characters of a sentence that is taken apart: a file may hold any, and the time grows with their fourth power

  /** A sentence that is sent in English and known to the dictionary, in the reader's language. */
  function translated(english, say, text) {
    const keys = Object.keys(english).filter((key) => /^(error|about|reason|file)\./.test(key));
    const same = keys.find((key) => english[key] === text);
    if (same) return say(same);
    if (text.length > LONGEST) return text;
    for (const key of keys) {
      const values = english[key].includes("{") ? filled(english[key], text) : null;
      if (values) return say(key, values);
    }
    return text;
  }

  /** A small number in words where the language's own dictionary has them, else digits. */
  function counted(say, n) {
    return say.own("number." + n) ? say("number." + n) : String(n);
  }

  const seconds = (value) => (value < 100 ? value.toFixed(2) : value.toFixed(1));
  const tenths = (value) => value.toFixed(1);

  /** A factor such as 2.3 or 12; never "1.0" for something that differs. */
  function factor(value) {
    return value >= 10 ? value.toFixed(0) : value >= 1.1 ? value.toFixed(1) : value.toFixed(2);
  }

  /** A token so that its white space can be seen; cut after `most` characters. */
  function visible(piece, most) {
    if (piece === "") return "∅";
    if (/^[\u200b-\u200f\u2060\ufe00-\ufe0f]+$/.test(piece)) return "U+" + piece.charCodeAt(0).toString(16).toUpperCase();
    const shown = piece.replace(/\r/g, "␍").replace(/\n/g, "↵").replace(/\t/g, "⇥").replace(/[ \u00a0]/g, "·")
      .replace(/[\u0000-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g, "�");
    return shortened(shown, most || 14);
  }

  /** Cut text after `most` characters as a reader counts them. */
  function shortened(text, most) {
    const parts = graphemes(text);
    return parts.length <= most ? text : parts.slice(0, most - 1).join("") + "…";
  }

  const segmenter = typeof Intl !== "undefined" && Intl.Segmenter ? new Intl.Segmenter(undefined, { granularity: "grapheme" }) : null;
  function graphemes(text) {
    if (/^[\x00-\x7f]*$/.test(text)) return text.split("");
    return segmenter ? Array.from(segmenter.segment(text), (part) => part.segment) : Array.from(text);
  }

  /** The date of a recording as a day, in the reader's language; text that is no date stays as it is. */
  function day(date, language) {
    const parsed = new Date(date);
    if (Number.isNaN(parsed.getTime())) return String(date);
    return parsed.toLocaleDateString(language, { year: "numeric", month: "long", day: "numeric" });
  }

  S.words = { dictionary, filled, translated, counted, seconds, tenths, factor, visible, shortened, graphemes, day };
})(typeof globalThis !== "undefined" ? globalThis : this);

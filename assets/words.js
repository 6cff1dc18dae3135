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

  /** A sentence with {name} places as a pattern that any such sentence fits. */
  function pattern(template) {
    const parts = template.split(/\{(\w+)\}/).map((part, i) => (i % 2 ? `(?<${part}>.+?)` : part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")));
    return new RegExp("^" + parts.join("") + "$", "s");
  }

  /** What stands in the {name} places of a sentence, or null if it is another one. */
  function filled(template, text) {
    const found = pattern(template).exec(text);
    return found ? found.groups || {} : null;
  }

  const LONGEST = 500; // characters of a sentence that is taken apart: a file may hold any, and the time grows with their fourth power
  const known = new WeakMap(); // by dictionary: its sentences, and those with places as patterns; lanes ask at every redraw

  function sentencesOf(english) {
    if (!known.has(english)) {
      const keys = Object.keys(english).filter((key) => /^(error|about|reason|file)\./.test(key));
      const same = new Map();
      for (const key of keys) if (!same.has(english[key])) same.set(english[key], key);
      known.set(english, {
        same,
        patterns: keys.filter((key) => english[key].includes("{")).map((key) => [key, pattern(english[key])]),
      });
    }
    return known.get(english);
  }

  /** A sentence that is sent in English and known to the dictionary, in the reader's language. */
  function translated(english, say, text) {
    const { same, patterns } = sentencesOf(english);
    if (same.has(text)) return say(same.get(text));
    if (text.length > LONGEST) return text;
    for (const [key, shape] of patterns) {
      const found = shape.exec(text);
      if (found) return say(key, found.groups);
    }
    return text;
  }

  S.translated = (text) => text; // the page has its own: see page.js and site.js

  /** The other of the two languages. */
  const otherLanguage = (language) => (language === "en" ? "ko" : "en");

  /** The language to begin with: the address's, else the reader's, else English. Pure. */
  function firstLanguage(words, asked, readers) {
    if (asked !== null && Object.prototype.hasOwnProperty.call(words, asked)) return asked;
    return /^ko\b/i.test(readers || "") && words.ko ? "ko" : "en";
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

  S.words = { dictionary, filled, translated, firstLanguage, otherLanguage, counted, seconds, tenths, factor, visible, shortened, graphemes, day };
})(typeof globalThis !== "undefined" ? globalThis : this);

// The searcher: the same words, the same language and the same hits as `memosite search`, over blocks (docs/search.md).
//
//     query ─► parse ─► for each block the documents that match ─► newest first ─► rows, excerpts, facets
//
// A classic script, since modules are not loaded from file://. It touches no page: `search-page.js` does, and tests
// run it in node. Pieces of blocks come from a `load` function, so that only what a query needs is moved.

"use strict";

/**
 * @typedef {["words", "text" | "subject" | "name", string[], boolean, true?]} Words the last: exactly as in quotes
 * @typedef {["key", string, string, boolean]} Key
 * @typedef {["dates", number | null, number | null]} Dates
 * @typedef {["ago", number, boolean]} Ago
 * @typedef {["and" | "or", ...any[]]} Group
 * @typedef {["not", any]} Not
 * @typedef {Words | Key | Dates | Ago | Group | Not} Tree
 * @typedef {{term: string, position: number, start: number, end: number, part: boolean}} Word
 * @typedef {{terms: string, files: Record<string, string[]>}} PartHead
 * @typedef {PartHead & {key: string, artifacts: number, documents: number, more: string, newest: number | null,
 *   oldest: number | null, years: [string, number][], tools: string}} Head
 * @typedef {[string, string, number, number, string, string, string, string, string]} Row
 * @typedef {{excerpt: [string, boolean][], anchor: string, words: string, found: number}} Passage
 * @typedef {{row: Row, group: string, subject: [string, boolean][]} & Passage} Hit
 * @typedef {{total: number, items: number, listed: number, hits: Hit[], countedFrom: number | null,
 *   facets: () => Promise<Facets>}} Answer `countedFrom` is the newest date, if the query counts back from that
 * @typedef {Record<string, [string, number][]>} Facets
 * @typedef {{file: string, start: number, size: number}} Lines where in a file a piece is, in bytes
 * @typedef {(name: string, at?: Lines) => Promise<any>} Load
 */

const memositeSearch = (() => {
  // Words

  const MOST_CHARS = 128;
  const ACCENT = /[\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1-\u05c2\u05c4-\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f]/u;
  const IN_WORD = /[\p{L}\p{N}\p{M}]/u;
  /** @type {Record<string, string>} */
  const LETTERS = {
    ß: "ss", ς: "σ", æ: "ae", œ: "oe", ø: "o", đ: "d", ð: "d", þ: "th", ł: "l", ħ: "h", ı: "i", ŋ: "n", ŧ: "t",
  };
  const CJK = "\\u3005-\\u3007\\u3040-\\u30ff\\u31f0-\\u31ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uac00-\\ud7a3\\uf900-\\ufaff\\u{20000}-\\u{3ffff}";
  const SCRIPT = new RegExp(`[${CJK}]+|[^${CJK}]+`, "gu");
  const IS_CJK = new RegExp(`^[${CJK}]`, "u");
  const CAMEL = /[a-z0-9][A-Z]|[A-Z][A-Z][a-z]/;
  const PART = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/g;
  const HASH = /^(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,63}$/;

  /** @param {string} text @param {number} count characters, not code units */
  const cut = (text, count) => (text.length <= count ? text : Array.from(text).slice(0, count).join(""));

  /** A text in the form that is taken apart. @param {string} text */
  const prepare = (text) => text.normalize("NFC").replace(/[\uff66-\uff9f]+/g, (run) => run.normalize("NFKC"));

  /** What a character folds to: a space if it is no part of a word, nothing if it is an accent. @param {string} char */
  function foldCharacter(char) {
    if (char < "\x80") return /[a-z0-9]/i.test(char) ? char.toLowerCase() : " ";
    if (ACCENT.test(char)) return "";
    if (!IN_WORD.test(char)) return /\p{Cf}/u.test(char) ? "" : " ";
    let found = "";
    for (const piece of char.normalize("NFKD")) {
      if (ACCENT.test(piece)) continue;
      if (!IN_WORD.test(piece)) {
        found += " ";
        continue;
      }
      for (const each of piece.toLowerCase().normalize("NFKD")) {
        if (!ACCENT.test(each)) found += LETTERS[each] ?? each;
      }
    }
    return found.normalize("NFC");
  }

  /** @param {string} text @returns {{folded: string, starts: number[]}} where each code unit stands in the text */
  function fold(text) {
    let folded = "";
    const starts = [];
    let place = 0;
    for (const char of text) {
      const piece = foldCharacter(char);
      for (let i = 0; i < piece.length; i++) starts.push(place);
      folded += piece;
      place += char.length;
    }
    starts.push(text.length);
    return { folded, starts };
  }

  /** The words of a prepared text, parts after the word they are of. @param {string} text @returns {Word[]} */
  function words(text) {
    const { folded, starts } = fold(text);
    /** @type {Word[]} */
    const found = [];
    let position = 0;
    for (const run of folded.matchAll(/[^ ]+/g)) {
      for (const piece of run[0].matchAll(SCRIPT)) {
        const first = run.index + piece.index;
        const added = IS_CJK.test(piece[0])
          ? cjkWords(piece[0], position, starts, first)
          : plainWords(piece[0], position, starts[first], starts[first + piece[0].length], text);
        found.push(...added);
        position = added[added.length - 1].position + 1;
      }
    }
    return found;
  }

  /** @param {string} piece @param {number} position @param {number} start @param {number} end @param {string} text */
  function plainWords(piece, position, start, end, text) {
    const found = [{ term: cut(piece.normalize("NFC"), MOST_CHARS), position, start, end, part: false }];
    for (const term of camelParts(text.slice(start, end))) found.push({ term, position, start, end, part: true });
    return found;
  }

  /** @param {string} written @returns {string[]} */
  function camelParts(written) {
    const head = cut(written, MOST_CHARS);
    if (!CAMEL.test(head)) return [];
    const whole = written.toLowerCase();
    const parts = new Set((head.match(PART) ?? []).map((part) => part.toLowerCase()));
    return [...parts].filter((part) => part !== whole);
  }

  /** @param {string} run @param {number} position @param {number[]} starts @param {number} first */
  function cjkWords(run, position, starts, first) {
    const chars = Array.from(run);
    /** @type {number[]} */
    const places = [];
    let unit = first;
    for (const char of chars) {
      places.push(starts[unit]);
      unit += char.length;
    }
    places.push(starts[unit]);
    const last = Math.max(chars.length - 2, 0);
    /** @type {Word[]} */
    const found = [];
    chars.forEach((char, i) => {
      if (i <= last) {
        const end = places[Math.min(i + 2, chars.length)];
        found.push({ term: chars.slice(i, i + 2).join(""), position: position + i, start: places[i], end, part: false });
      }
      if (chars.length > 1) {
        const at = position + Math.min(i, last);
        found.push({ term: char, position: at, start: places[i], end: places[i + 1], part: true });
      }
    });
    return found;
  }

  /** @param {string} text */
  const phrase = (text) => words(prepare(text)).filter((word) => !word.part).map((word) => word.term);

  const NO_PLURAL = ["does", "has", "its", "new", "news", "was"];

  /** A word and its plain plural or singular in English. @param {string} term @returns {string[]} */
  function formsOf(term) {
    if (!/^[a-z]{3,}$/.test(term) || NO_PLURAL.includes(term)) return [term];
    const cut = (/** @type {number} */ count) => term.slice(0, -count);
    if (term.endsWith("ies")) return [term, `${cut(3)}y`, cut(1)];
    if (/(?:s|x|z|ch|sh)es$/.test(term)) return [term, cut(1), cut(2)];
    if (/[^sui]s$/.test(term)) return [term, cut(1)];
    if (/[^aeiou]y$/.test(term)) return [term, `${cut(1)}ies`];
    return [term, /(?:s|x|z|ch|sh)$/.test(term) ? `${term}es` : `${term}s`];
  }

  /** What each of some words may be: one that is alone, and not in quotes, also its plural. @param {Words} words */
  const choicesOf = ([, field, terms, prefix, exact]) =>
    terms.length === 1 && field !== "name" && !prefix && !exact ? [formsOf(terms[0])] : terms.map((term) => [term]);

  /** A name, an id or a tag as one term. @param {string} text */
  function keyword(text) {
    const pieces = fold(prepare(text)).folded.split(" ").filter((piece) => piece);
    return cut(pieces.map((piece) => piece.normalize("NFC")).join("-"), 250);
  }

  // Queries

  const LONGEST = 2000;
  const DEEPEST = 40;
  const MOST_CONDITIONS = 100;
  const KEYS = [
    "from", "to", "with", "kind", "system", "thread", "transcript", "repo", "box", "is", "tag", "status",
    "model", "branch", "file", "in",
  ];
  const DATES = ["sent", "after", "before"];
  /** @type {Record<string, string[]>} */
  const CHOICES = {
    kind: ["memo", "note", "transcript", "library", "record", "document"],
    is: ["open", "answered", "superseded", "discharged", "broadcast", "unread"],
    in: ["text", "tools"],
  };
  /** Fields by other words for them. @type {Map<string, string>} */
  const MEANT = new Map(
    Object.entries({
      from: ["author", "by", "form", "sender"],
      to: ["for", "recipient"],
      with: ["participant", "person", "position", "who"],
      sent: ["date", "day", "on", "when"],
      is: ["action", "state"],
      repo: ["project", "source"],
      box: ["folder", "mailbox"],
      kind: ["type"],
      subject: ["title"],
      transcript: ["session"],
      thread: ["thread_id"],
      after: ["since"],
      before: ["until"],
      tag: ["label"],
    }).flatMap(([field, words]) => words.map((word) => [word, field])),
  );
  /** @type {Record<string, string>} */
  const EXAMPLES = {
    sent: "sent:2026-05 or sent:[2026-05-01 TO 2026-05-31]",
    after: "after:2026-05-30 or after:2w",
    before: "before:2026-05-30 or before:2w",
    from: "from:engineer",
    subject: 'subject:"tide tables"',
  };
  const ORDINARY = 'from:engineer "tide tables" NOT draft*';
  const PARENTHESES = "(tide OR ebb) tables";
  const SPACES = " \\t\\n\\r\\f\\v\\u00a0\\u3000";
  const SPACE = new RegExp(`[${SPACES}]`);
  const RANGE = new RegExp(`^[${SPACES}]*([^${SPACES}]+)[${SPACES}]+TO[${SPACES}]+([^${SPACES}]+)[${SPACES}]*$`);
  const TOKEN = new RegExp(`[${SPACES}]+|[()]|"|[^${SPACES}()"]+`, "y");
  const FIELDS = ["subject", ...KEYS, ...DATES];
  const FIELD = /^([a-z_]+):/i;
  const VALUE = /^[\p{L}\p{N}_"[]/u;
  const DATE = /^([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2})(?:T([0-9]{2}):([0-9]{2})Z?)?)?)?$/;
  const AGO = /^([0-9]{1,4})([dwmy])$/;
  /** @type {Record<string, number>} */
  const AGO_DAYS = { d: 1, w: 7, m: 30, y: 365 };
  const DAY = 86_400_000;

  class QueryError extends Error {
    /** @param {string} message @param {number} position in code units @param {string} example */
    constructor(message, position, example) {
      super(message);
      this.position = position;
      this.example = example;
    }
  }

  /** @typedef {{sign: string, position: number, field: string, value: string, form: string}} Token */

  /** The syntax tree of a query. @param {string} text @returns {Tree} */
  function parse(text) {
    if (Array.from(text).length > LONGEST) {
      const message = `the query is longer than ${LONGEST} characters`;
      throw new QueryError(message, cut(text, LONGEST).length, ORDINARY);
    }
    const tokens = tokenize(text);
    const values = tokens.filter((token) => token.sign === "value");
    if (values.length > MOST_CONDITIONS) {
      const message = `the query has more than ${MOST_CONDITIONS} words`;
      throw new QueryError(message, values[MOST_CONDITIONS].position, ORDINARY);
    }
    const tree = readTokens(tokens, text.length);
    if (tree === null) throw new QueryError("enter a word to search for", 0, ORDINARY);
    if (namesPlace(tree)) return tree;
    return all([["key", "in", "text", false], ...(tree[0] === "and" ? /** @type {Tree[]} */ (tree.slice(1)) : [tree])]);
  }

  /** @param {string} text @returns {Token[]} */
  function tokenize(text) {
    /** @type {Token[]} */
    const tokens = [];
    let position = 0;
    while (position < text.length) {
      TOKEN.lastIndex = position;
      const piece = /** @type {RegExpExecArray} */ (TOKEN.exec(text))[0];
      const start = position;
      position += piece.length;
      if (SPACE.test(piece[0])) continue;
      if (["(", ")", "AND", "OR", "NOT"].includes(piece)) {
        tokens.push({ sign: piece, position: start, field: "", value: "", form: "word" });
        continue;
      }
      const named = FIELD.exec(piece);
      const name = named ? named[1].toLowerCase() : "";
      const behind = start + (named ? named[0].length : 0);
      const isField = FIELDS.includes(name);
      const other = named && !isField && VALUE.test(text.slice(behind, behind + 2)) ? meant(name) : "";
      if (other) throw noField(name, other, start);
      const [field, at] = isField ? [name, behind] : ["", start];
      const [token, end] = readValue(text, field, start, at, position);
      tokens.push(token);
      position = end;
    }
    return tokens;
  }

  /** Words before a colon that are searched as text, since there is no such field. @param {string} text */
  const noFields = (text) =>
    text.replace(/"[^"]*"?/g, " ").split(SPACE).map((piece) => FIELD.exec(piece.replace(/^\(+/, ""))?.[1] ?? "")
      .filter((name) => name && !FIELDS.includes(name.toLowerCase()));

  /** Who is asked for with `from:`, `to:` or `with:`, as written. @param {string} query */
  const peopleIn = (query) =>
    leaves(parse(query)).flatMap(([leaf]) => (leaf[0] === "key" && ["from", "to", "with"].includes(leaf[1]) && !leaf[3] ? [leaf[2]] : []));

  /** The field that a word before a colon stands for or misspells; "" for other words. @param {string} name */
  function meant(name) {
    const closer = (/** @type {string} */ best, /** @type {string} */ field) =>
      edits(name, field) < edits(name, best) ? field : best;
    const nearest = FIELDS.reduce(closer);
    return MEANT.get(name) ?? (edits(name, nearest) <= Math.floor(name.length / 3) ? nearest : "");
  }

  /** @param {string} name @param {string} other @param {number} position */
  function noField(name, other, position) {
    const message =
      `there is no field ${name}:, the nearest is ${other}: (there are ${FIELDS.join(", ")}); ` +
      "a text with a colon needs quotation marks";
    return new QueryError(message, position, example(other));
  }

  /** How many letters have to be put in, taken out or replaced. @param {string} one @param {string} other */
  function edits(one, other) {
    let row = Array.from({ length: other.length + 1 }, (_, count) => count);
    Array.from(one).forEach((letter, count) => {
      const above = row;
      row = [count + 1];
      Array.from(other).forEach((wanted, i) => {
        row.push(Math.min(above[i] + Number(letter !== wanted), above[i + 1] + 1, row[i] + 1));
      });
    });
    return row[row.length - 1];
  }

  /**
   * @param {string} text @param {string} field @param {number} start @param {number} at @param {number} end
   * @returns {[Token, number]}
   */
  function readValue(text, field, start, at, end) {
    const token = { sign: "value", position: start, field };
    if (text[at] === '"' && (field || at === start)) {
      const close = text.indexOf('"', at + 1);
      if (close < 0) throw new QueryError("the quotation mark is never closed", at, '"tide tables"');
      return [{ ...token, value: text.slice(at + 1, close), form: "quoted" }, close + 1];
    }
    if (text[at] === "[" && DATES.includes(field)) {
      const close = text.indexOf("]", at);
      if (close < 0) throw new QueryError("the range is never closed with ]", at, EXAMPLES.sent);
      return [{ ...token, value: text.slice(at + 1, close), form: "range" }, close + 1];
    }
    return [{ ...token, value: text.slice(at, end), form: "word" }, end];
  }

  /**
   * @typedef {{position: number, negatedOutside: boolean, alternatives: Tree[], parts: Tree[], negated: boolean,
   *   waitsFor: string, said: boolean}} Frame
   */

  /** @param {Token[]} tokens @param {number} end @returns {Tree | null} */
  function readTokens(tokens, end) {
    /** @type {(position: number, negatedOutside: boolean) => Frame} */
    const frameAt = (position, negatedOutside) =>
      ({ position, negatedOutside, alternatives: [], parts: [], negated: false, waitsFor: "", said: false });
    const stack = [frameAt(0, false)];
    for (const token of tokens) {
      const frame = stack[stack.length - 1];
      if (token.sign === "(") {
        if (stack.length > DEEPEST) throw new QueryError("there are too many parentheses", token.position, PARENTHESES);
        stack.push(frameAt(token.position, frame.negated));
        frame.negated = false;
        frame.waitsFor = "";
      } else if (token.sign === ")") {
        if (stack.length === 1) throw new QueryError("this parenthesis was never opened", token.position, PARENTHESES);
        closeFrame(frame, token.position);
        stack.pop();
        addNode(stack[stack.length - 1], any(frame.alternatives), frame.negatedOutside);
      } else if (token.sign === "value") {
        addNode(frame, condition(token), frame.negated);
      } else {
        takeOperator(frame, token);
      }
    }
    if (stack.length > 1) {
      throw new QueryError("this parenthesis is never closed", stack[stack.length - 1].position, PARENTHESES);
    }
    closeFrame(stack[0], end);
    return any(stack[0].alternatives);
  }

  /** @param {Frame} frame @param {Tree | null} node @param {boolean} negated */
  function addNode(frame, node, negated) {
    frame.negated = false;
    frame.waitsFor = "";
    frame.said = true;
    if (node) frame.parts.push(negated ? ["not", node] : node);
  }

  /** @param {Frame} frame @param {number} position */
  function closeFrame(frame, position) {
    if (frame.waitsFor) throw new QueryError(`after ${frame.waitsFor} a word is missing`, position, ORDINARY);
    if (frame.parts.length) frame.alternatives.push(all(frame.parts));
  }

  /** @param {Frame} frame @param {Token} token */
  function takeOperator(frame, token) {
    if (token.sign === "NOT") {
      frame.negated = !frame.negated;
      frame.waitsFor = "NOT";
      return;
    }
    if (frame.waitsFor || !frame.said) {
      throw new QueryError(`before ${token.sign} a word is missing`, token.position, `tide ${token.sign} ebb`);
    }
    frame.waitsFor = token.sign;
    if (token.sign === "OR") {
      if (frame.parts.length) frame.alternatives.push(all(frame.parts));
      frame.parts = [];
      frame.said = false;
    }
  }

  /** @param {Tree[]} parts @returns {Tree} */
  const all = (parts) => (parts.length === 1 ? parts[0] : ["and", ...parts]);

  /** @param {Tree[]} parts @returns {Tree | null} */
  const any = (parts) => (parts.length > 1 ? ["or", ...parts] : (parts[0] ?? null));

  /** @param {Token} token @returns {Tree | null} */
  function condition(token) {
    if (DATES.includes(token.field)) return dates(token);
    return KEYS.includes(token.field) ? key(token) : wordsOf(token);
  }

  /** @param {string} field */
  const example = (field) => EXAMPLES[field] ?? `${field}:${(CHOICES[field] ?? ["director"])[0]}`;

  /** @param {Token} token @returns {Tree} */
  function key(token) {
    const isPrefix = token.form === "word" && token.value.endsWith("*");
    const value = keyword(token.value);
    if (!value) throw new QueryError(`${token.field}: has no value`, token.position, example(token.field));
    const choices = CHOICES[token.field];
    if (choices && (isPrefix || !choices.includes(value))) {
      const elsewhere = value.startsWith("decision") ? "; decisions have pages of their own: decisions/" : "";
      const message = `${token.field}: is one of ${choices.join(", ")}${elsewhere}`;
      throw new QueryError(message, token.position, `${token.field}:${choices[0]}`);
    }
    return ["key", token.field, value, isPrefix];
  }

  /** @param {Token} token @returns {Tree | null} */
  function wordsOf(token) {
    const quoted = token.form === "quoted";
    const hasStar = !quoted && token.value.endsWith("*");
    const terms = phrase(token.value);
    if (!terms.length) {
      if (!token.field) return null;
      throw new QueryError(`${token.field}: has no value`, token.position, example(token.field));
    }
    if (hasStar && terms.length === 1 && /^[\0-\x7f]$/.test(terms[0])) {
      throw new QueryError("at least two letters stand before *", token.position, "deploy*");
    }
    const prefix = hasStar || (!quoted && HASH.test(terms[terms.length - 1]));
    /** @type {Words} */
    const found = ["words", token.field === "subject" ? "subject" : "text", terms, prefix];
    if (quoted && terms.length === 1) found.push(true);
    if (token.field === "subject") return found;
    if (!SPACE.test(token.value) && (terms.length > 1 || HASH.test(terms[0]))) {
      return ["or", found, ["words", "name", terms, prefix]];
    }
    return found;
  }

  /** @param {Token} token @returns {Tree} */
  function dates(token) {
    if (token.field === "sent") return sent(token);
    if (token.form !== "range") {
      const isAfter = token.field === "after";
      const ago = AGO.exec(token.value);
      if (ago) return ["ago", Number(ago[1]) * AGO_DAYS[ago[2]], isAfter];
      const span = readDate(token.value);
      if (span) return ["dates", isAfter ? span[0] : null, isAfter ? null : span[0]];
    }
    throw noDate(token);
  }

  /** @param {Token} token @returns {Error} */
  function noDate(token) {
    const said = token.form !== "range" && DATE.test(token.value) ? "an invalid date" : "no date";
    return new QueryError(`${token.field}: is ${said}`, token.position, EXAMPLES[token.field]);
  }

  /** @param {Token} token @returns {Tree} */
  function sent(token) {
    if (token.form !== "range") {
      const span = readDate(token.value);
      if (!span) throw noDate(token);
      return ["dates", span[0], span[1]];
    }
    const ends = RANGE.exec(token.value);
    if (!ends) throw new QueryError("a range has two dates with TO between them", token.position, EXAMPLES.sent);
    const [first, last] = [ends[1], ends[2]].map((end) => (end === "*" ? null : readDate(end)));
    if ((!first && ends[1] !== "*") || (!last && ends[2] !== "*")) {
      const isMeant = [ends[1], ends[2]].every((end) => end === "*" || DATE.test(end));
      const said = isMeant ? "an invalid date" : "no two dates";
      throw new QueryError(`the range has ${said}`, token.position, EXAMPLES.sent);
    }
    return ["dates", first ? first[0] : null, last ? last[1] : null];
  }

  /** The first millisecond of a year, month, day or minute, and the first after it. @param {string} text */
  function readDate(text) {
    const match = DATE.exec(text);
    if (!match) return null;
    const [year, month, day, hour, minute] = match.slice(1).map((part) => (part === undefined ? null : Number(part)));
    const first = instant(year ?? 0, month ?? 1, day ?? 1);
    if (first === null || (hour ?? 0) > 23 || (minute ?? 0) > 59) return null;
    const start = first + ((hour ?? 0) * 60 + (minute ?? 0)) * 60_000;
    if (minute !== null) return [start, start + 60_000];
    if (day !== null) return [start, start + DAY];
    const months = (year ?? 0) * 12 + (month ?? 12);
    return [start, /** @type {number} */ (instant(Math.floor(months / 12), (months % 12) + 1, 1, 10_000))];
  }

  /** @param {number} year @param {number} month @param {number} day @param {number} latest @returns {number | null} */
  function instant(year, month, day, latest = 9999) {
    const date = new Date(0);
    date.setUTCFullYear(year, month - 1, day);
    const isReal = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
    return isReal && year >= 1 && year <= latest ? date.getTime() : null;
  }

  /** Whether a query says anything of `in:`. @param {Tree} tree @returns {boolean} */
  function namesPlace(tree) {
    return leaves(tree).some(([leaf]) => leaf[0] === "key" && leaf[1] === "in");
  }

  /** @param {Tree} tree @param {boolean} wanted @returns {[Tree, boolean][]} */
  function leaves(tree, wanted = true) {
    if (tree[0] === "not") return leaves(tree[1], !wanted);
    if (tree[0] !== "and" && tree[0] !== "or") return [[tree, wanted]];
    return /** @type {Tree[]} */ (tree.slice(1)).flatMap((part) => leaves(part, wanted));
  }

  /** Whether only what is no output of tools can match, so that words are not sought there. @param {Tree} tree */
  function isOfText(tree) {
    const parts = tree[0] === "and" ? /** @type {Tree[]} */ (tree.slice(1)) : [tree];
    return parts.some((part) => part[0] === "key" && part[1] === "in" && part[2] === "text" && !part[3]);
  }

  // Blocks

  /** @type {Record<string, string>} */
  const FOLDERS = {
    memo: "memos", note: "notes", transcript: "transcripts", library: "libraries", document: "documents", record: "",
  };

  const DIGITS = new Map(
    Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", (char, i) => [char.charCodeAt(0), i]),
  );

  /** All numbers of a string of digits. @param {string} text @returns {number[]} */
  function numbers(text) {
    const found = [];
    let value = 0;
    let weight = 1;
    for (let i = 0; i < text.length; i++) {
      const digit = /** @type {number} */ (DIGITS.get(text.charCodeAt(i)));
      value += (digit % 32) * weight;
      weight *= 32;
      if (digit < 32) {
        found.push(value);
        value = 0;
        weight = 1;
      }
    }
    return found;
  }

  /** Ascending numbers from their gaps, or from a bit for each. @param {string} text @returns {number[]} */
  function ascending(text) {
    if (text[0] === "!") {
      const found = [];
      for (let i = 1; i < text.length; i++) {
        const bits = /** @type {number} */ (DIGITS.get(text.charCodeAt(i)));
        for (let bit = 0; bit < 6; bit++) if (bits & (1 << bit)) found.push((i - 1) * 6 + bit);
      }
      return found;
    }
    let before = -1;
    return numbers(text).map((gap) => (before += gap + 1));
  }

  /** As Python compares: by character, not by code unit. @param {string} one @param {string} other */
  function compare(one, other) {
    const length = Math.min(one.length, other.length);
    for (let i = 0; i < length; i++) {
      const left = one.charCodeAt(i);
      const right = other.charCodeAt(i);
      if (left === right) continue;
      const isLeft = left >= 0xd800 && left < 0xe000;
      const isRight = right >= 0xd800 && right < 0xe000;
      return isLeft === isRight ? left - right : isLeft ? 1 : -1;
    }
    return one.length - other.length;
  }

  const VERSION = 4; // of the files: this page reads no other
  const GROUPS = 256;
  const GROUP_DIGITS = 6;

  /** @typedef {{key: string, documents: string, shard: number, place: number}} Entry a term, and where its places are */

  /** The terms of a shard by their keys. @param {string} text @param {number} shard @returns {Map<string, Entry>} */
  function readShard(text, shard) {
    let key = "";
    return new Map(text.split(",").map((entry, place) => {
      const [, shared, rest, documents] = /** @type {RegExpExecArray} */ (/^([g-z0-9_-]*[A-Za-f])(.*?) (.*)$/s.exec(entry));
      key = key.slice(0, numbers(shared)[0]) + rest;
      return [key, { key, documents, shard, place }];
    }));
  }

  /** The words or the states of a block, as far as they have been loaded: terms of so many things, and other pieces. */
  class Part {
    /** @param {string} name @param {PartHead} head @param {number} size @param {Load} load */
    constructor(name, head, size, load) {
      this.name = name;
      this.files = head.files;
      this.terms = head.terms ? head.terms.split(",") : []; // with what each shard of terms begins
      this.size = size;
      this.load = load;
      /** @type {Map<string, Promise<any>>} */
      this.kept = new Map();
    }

    /** A piece of a kind. @template T @param {string} kind @param {number} number @param {(value: any) => T} read
     *  @returns {Promise<T>} */
    get(kind, number, read) {
      const piece = kind + number;
      let found = this.kept.get(piece);
      if (!found) {
        const [name, lines] = this.lines(kind, number);
        found = this.load(name, lines).then(read);
        found.catch(() => this.kept.delete(piece));
        this.kept.set(piece, found);
      }
      return found;
    }

    /** The name of a piece, with the key of its file, and where it is. @param {string} kind @param {number} number
     *  @returns {[string, Lines]} */
    lines(kind, number) {
      let left = number;
      for (const [i, listed] of this.files[kind].entries()) {
        const sizes = numbers(listed.slice(8));
        if (left < sizes.length) {
          const start = sizes.slice(0, left).reduce((sum, size) => sum + size, 0);
          const name = `${this.name}/${kind}${number}@${listed.slice(0, 8)}`;
          return [name, { file: `${this.name}/${kind}${i}`, start, size: sizes[left] }];
        }
        left -= sizes.length;
      }
      throw new Error(`${this.name} has no ${kind}${number}`);
    }

    /** The shard in which a key stands, if anywhere. @param {string} key */
    shardOf(key) {
      const { terms } = this;
      let [low, high] = [0, terms.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (compare(terms[middle], key) <= 0) low = middle + 1;
        else high = middle;
      }
      return low - 1;
    }

    /** The terms that each of some words may be. @param {string} family @param {Words} wanted */
    entriesOf(family, wanted) {
      return Promise.all(choicesOf(wanted).map(async (forms, i) => {
        const isBegun = wanted[3] && i === wanted[2].length - 1;
        return (await Promise.all(forms.map((term) => this.entries(`${family}:${term}`, isBegun)))).flat();
      }));
    }

    /** The terms that are, or begin with, a key. @param {string} key @param {boolean} prefix @returns {Promise<Entry[]>} */
    async entries(key, prefix) {
      const first = this.shardOf(key);
      const isAsked = (/** @type {string} */ start, /** @type {number} */ i) =>
        i === first || (prefix && i > first && (start.startsWith(key) || key.startsWith(start)));
      const asked = [...this.terms.keys()].filter((i) => isAsked(this.terms[i], i));
      const shards = await Promise.all(asked.map((i) => this.get("t", i, (text) => readShard(text, i))));
      return shards.flatMap((terms) =>
        prefix ? [...terms.values()].filter((entry) => entry.key.startsWith(key)) : (terms.get(key) ?? []),
      );
    }

  }

  /** One block: its words, whose terms are of documents; and its states, whose terms are of artifacts. */
  class Block extends Part {
    /** @param {string} name @param {Head} head @param {Load} load */
    constructor(name, head, load) {
      super(name, head, head.documents, load);
      this.head = head;
      /** @type {Uint32Array | null} */
      this.artifactOf = null;
      /** @type {Promise<Part> | null} */
      this.loadedStates = null;
    }

    /** Its states. Those of other words have other numbers, or say what was true at another time. @returns {Promise<Part>} */
    states() {
      const name = `${this.name}/states`;
      this.loadedStates ??= this.load(`${name}/head`).then((head) => {
        if (head.words !== this.head.key) throw new Error(`${name} is of another build`);
        return new Part(name, head, this.head.artifacts, this.load);
      });
      this.loadedStates.catch(() => (this.loadedStates = null));
      return this.loadedStates;
    }

    /** The artifact of each document, by number. */
    get artifacts() {
      if (!this.artifactOf) {
        const sizes = new Array(this.head.artifacts).fill(1);
        const more = numbers(this.head.more);
        for (let i = 0, artifact = -1; i < more.length; i += 2) sizes[(artifact += more[i] + 1)] += more[i + 1];
        this.artifactOf = Uint32Array.from(sizes.flatMap((size, artifact) => new Array(size).fill(artifact)));
      }
      return this.artifactOf;
    }

    /** @returns {Promise<number[]>} the date of each document, newest first, -Infinity without one */
    dates() {
      return this.get("i", 0, ({ scale, steps }) => {
        let date = this.head.newest ?? 0;
        const found = numbers(steps).map((step) => (date -= step * scale));
        return Array.from(this.artifacts, (artifact) => found[artifact] ?? -Infinity);
      });
    }

    /** The documents of some artifacts. @param {Uint8Array} found */
    documentsOf(found) {
      return Uint8Array.from(this.artifacts, (artifact) => found[artifact]);
    }

    /** @param {number} document @returns {Promise<[string, ...Row]>} where its text is, and its row */
    async hit(document) {
      return (await this.get("h", Math.floor(document / 8), (value) => value))[document % 8];
    }

    /** @param {number} document @returns {Promise<Row>} */
    async row(document) {
      const [, kind, id, turn, tools, subject, label, who, day, file] = await this.hit(document);
      const usual = `${FOLDERS[kind]}/${id}/index.html${turn ? `#t${turn}` : ""}`;
      return [kind, id, turn, tools, subject, label, who, day, file || usual];
    }

    /** What a document is shown with: the same for those of one thread or session. @param {number} document
     *  @returns {Promise<string>} */
    async group(document) {
      const artifact = this.artifacts[document];
      const codes = await (await this.states()).get("g", Math.floor(artifact / GROUPS), (value) => value);
      const start = (artifact % GROUPS) * GROUP_DIGITS;
      return codes.slice(start, start + GROUP_DIGITS);
    }

    /** The passage of a document that has most of some words. Of a text in several pieces more than the first is loaded
     *  only if that has not all of them together: all, if it has three, else the one that positions tell.
     *  @param {number} document @param {Words[]} wanted @returns {Promise<{row: Row} & Passage>} */
    async passage(document, wanted) {
      const row = await this.row(document);
      const [first, place, ...sizes] = numbers((await this.hit(document))[0]);
      const piece = async (/** @type {number} */ n) => (await this.get("e", first + n, (value) => value))[n ? 0 : place];
      let found = mark(first === undefined ? "" : await piece(0), wanted);
      if (found.found === new Set(wanted.flatMap(keysOf)).size) return { row, ...found };
      if (sizes.length && sizes.length < 3) {
        found = mark((await Promise.all([...sizes, 0].map((_, n) => piece(n)))).join("\n"), wanted);
      } else if (sizes.length) {
        const at = await this.bestPosition(document, wanted, row[3] ? "o" : "t");
        let n = 0;
        for (let end = 0; n < sizes.length && (end += sizes[n]) <= at; ) n++;
        if (n) found = mark(await piece(n), wanted);
      }
      return { row, ...found };
    }

    /** Where most of some words stand together in a document. @param {number} document @param {Words[]} wanted
     *  @param {string} family */
    async bestPosition(document, wanted, family) {
      const places = await Promise.all(wanted.map(async (one) => {
        const choices = await this.entriesOf(family, one);
        const sets = await Promise.all(choices.map((entries) => placesOf(this, entries, setOf(this, [document]))));
        return sequences(sets.map((set) => set.get(document)));
      }));
      const all = wanted.flatMap((one, i) => places[i].flatMap((at) => keysOf(one).map((key, n) => ({ key, at: at + n, end: at + n }))));
      return best(all.sort((one, other) => one.at - other.at), 30)?.at ?? 0;
    }
  }

  /** @param {Part} part @param {Iterable<number>} numbers */
  function setOf(part, numbers) {
    const found = new Uint8Array(part.size);
    for (const number of numbers) found[number] = 1;
    return found;
  }

  /** What of a block matches. @param {Tree} tree @param {Block} block @param {Asked} asked @returns {Promise<Uint8Array>} */
  async function match(tree, block, asked) {
    switch (tree[0]) {
      case "words":
        return matchWords(tree, block, asked);
      case "key":
        return matchKey(tree, block);
      case "dates":
        return matchDates(block, tree[1], tree[2]);
      case "ago": {
        if (asked.newest === null) return setOf(block, []);
        const edge = asked.newest - tree[1] * DAY;
        return tree[2] ? matchDates(block, edge, null) : matchDates(block, null, edge);
      }
      case "not":
        return (await match(tree[1], block, asked)).map((bit) => 1 - bit);
      default: {
        const parts = /** @type {Tree[]} */ (tree.slice(1));
        const sets = await Promise.all(parts.map((part) => match(part, block, asked)));
        const isAll = tree[0] === "and";
        return sets.reduce((one, other) => one.map((bit, i) => (isAll ? bit & other[i] : bit | other[i])));
      }
    }
  }

  /** @typedef {{newest: number | null, tools: boolean}} Asked the newest date of all; whether tools are searched */

  /** @param {Key} tree @param {Block} block */
  async function matchKey([, field, value, prefix], block) {
    if (field === "in") {
      const tools = setOf(block, ascending(block.head.tools));
      return value === "tools" ? tools : tools.map((bit) => 1 - bit);
    }
    const part = field === "file" ? block : await block.states(); // a turn wrote it, all else is of the whole item
    const entries = await part.entries(`k:${field}:${value}`, prefix);
    const found = setOf(part, entries.flatMap((entry) => ascending(entry.documents)));
    return part === block ? found : block.documentsOf(found);
  }

  /** @param {Block} block @param {number | null} start @param {number | null} end */
  async function matchDates(block, start, end) {
    const { newest, oldest } = block.head;
    const [from, to] = [start ?? -Number.MAX_VALUE, end ?? Infinity];
    if (newest === null || oldest === null || newest < from || oldest >= to) return setOf(block, []);
    return Uint8Array.from(await block.dates(), (date) => (date >= from && date < to ? 1 : 0));
  }

  /** @param {Words} tree @param {Block} block @param {Asked} asked */
  async function matchWords(tree, block, asked) {
    if (tree[1] === "name") return firsts(block, block.documentsOf(await matchPhrase("n", tree, await block.states())));
    const families = tree[1] === "text" ? (asked.tools ? ["t", "o"] : ["t"]) : ["s"];
    const sets = await Promise.all(families.map((family) => matchPhrase(family, tree, block)));
    return sets.reduce((one, other) => one.map((bit, i) => bit | other[i]));
  }

  /** @param {string} family @param {Words} wanted @param {Part} part */
  async function matchPhrase(family, wanted, part) {
    const last = wanted[2].length - 1;
    const choices = await part.entriesOf(family, wanted);
    const sets = choices.map((entries) => setOf(part, entries.flatMap((entry) => ascending(entry.documents))));
    const found = sets.reduce((one, other) => one.map((bit, i) => bit & other[i]));
    if (last === 0 || !found.includes(1)) return found;
    const places = await Promise.all(choices.map((entries) => placesOf(part, entries, found)));
    return found.map((bit, number) => (bit && sequences(places.map((each) => each.get(number))).length ? 1 : 0));
  }

  /** What has some terms, each with where it stands there, as gaps. @param {Part} part @param {Entry[]} entries
   *  @returns {Promise<[number, number[]][]>} */
  async function placesIn(part, entries) {
    const files = await Promise.all(entries.map(({ shard }) => part.get("p", shard, (value) => value.split(","))));
    return entries.flatMap(({ documents, place }, i) => {
      const all = numbers(files[i][place]);
      let end = 0;
      return ascending(documents).map((document) => {
        const start = end + 1;
        end = start + all[end];
        return /** @type {[number, number[]]} */ ([document, all.slice(start, end)]);
      });
    });
  }

  /** Where some terms stand in what was found. @param {Part} part @param {Entry[]} entries @param {Uint8Array} found */
  async function placesOf(part, entries, found) {
    /** @type {Map<number, Set<number>>} */
    const places = new Map();
    for (const [document, gaps] of await placesIn(part, entries)) {
      if (!found[document]) continue;
      const set = places.get(document) ?? new Set();
      places.set(document, set);
      let place = -1;
      for (const gap of gaps) set.add((place += gap + 1));
    }
    return places;
  }

  /** Where terms follow each other. @param {(Set<number> | undefined)[]} places of each term */
  const sequences = (places) => [...(places[0] ?? [])].filter((first) => places.every((set, i) => set?.has(first + i)));

  // Answers

  class Searcher {
    /** @param {Load} load gives the value of a file of `search/` by its name */
    constructor(load) {
      this.load = load;
      /** @type {Promise<Block[]> | null} */
      this.blocks = null;
    }

    /** For words that are nowhere, the most similar one that is somewhere and begins alike: [written, instead].
     *  @param {string} query @returns {Promise<[string, string][]>} */
    async similar(query) {
      const blocks = await this.open();
      /** @type {[string, string][]} */
      const found = [];
      for (const [leaf, is] of leaves(parse(query))) {
        if (!is || leaf[0] !== "words" || leaf[1] === "name" || leaf[3]) continue;
        for (const term of leaf[2]) {
          const start = `${leaf[1] === "subject" ? "s" : "t"}:${Array.from(term).slice(0, 2).join("")}`;
          const near = new Map();
          for (const { key, documents } of (await Promise.all(blocks.map((block) => block.entries(start, true)))).flat()) {
            const other = key.slice(2);
            if (Math.abs(other.length - term.length) > 2) continue;
            near.set(other, (near.get(other) ?? 0) + ascending(documents).length);
          }
          if (choicesOf(leaf).flat().some((form) => near.has(form))) continue;
          const most = term.length > 5 ? 2 : 1;
          const [best] = [...near].map(([other, count]) => ({ other, count, steps: distance(term, other) }))
            .filter(({ steps }) => steps <= most)
            .sort((one, next) => one.steps - next.steps || next.count - one.count || compare(one.other, next.other));
          if (best) found.push([term, best.other]);
        }
      }
      return found;
    }

    /** @returns {Promise<Block[]>} */
    open() {
      this.blocks ??= this.load("blocks").then((value) => {
        if (value.v !== VERSION) throw new Error("blocks is of another version");
        return Promise.all(
          value.blocks.map(async (/** @type {string} */ name) => new Block(name, await this.load(`${name}/head`), this.load)),
        );
      });
      this.blocks.catch(() => (this.blocks = null));
      return this.blocks;
    }

    /** What a query finds, the first `limit` of it: the newest, or what matches best. `isOnce` gives each artifact
     *  once where no words are sought, since every turn of a transcript matches then.
     *  @param {string} query @param {number} limit @param {"newest" | "best"} [order] @param {boolean} [isOnce]
     *  @returns {Promise<Answer>} */
    async find(query, limit, order = "newest", isOnce = false) {
      const tree = parse(query);
      const blocks = await this.open();
      const dates = blocks.map((block) => block.head.newest).filter((date) => date !== null);
      const newest = dates.length ? dates.reduce((one, other) => Math.max(one, other)) : null;
      const asked = { newest, tools: !isOfText(tree) };
      const found = await Promise.all(blocks.map((block) => match(tree, block, asked)));
      const total = found.reduce((sum, set) => sum + set.reduce((count, bit) => count + bit, 0), 0);
      const wanted = wantedOf(tree);
      const isByItem = isOnce && !wanted.length;
      const listed = isByItem ? found.map((set, i) => firsts(blocks[i], set)) : found;
      const isBest = order === "best" && wanted.length > 0;
      const places = isBest ? await bestPlaces(blocks, found, wanted, limit, asked) : await firstPlaces(blocks, listed, limit);
      const hits = await Promise.all(places.map(async ([block, document]) => {
        const [passage, group] = await Promise.all([block.passage(document, wanted), block.group(document)]);
        const [said, inSubject] = [passage.row[4], wanted.filter(([, field]) => field !== "name")];
        return { ...passage, group, subject: marked(said, wordsIn(said, inSubject), 0, said.length) };
      }));
      const items = blocks.reduce((sum, block, i) => sum + shares(block, found[i]).reduce((all, one) => all + one, 0), 0);
      const countedFrom = leaves(tree).some(([leaf]) => leaf[0] === "ago") ? newest : null;
      return { total, items, listed: isByItem ? items : total, hits, countedFrom, facets: () => facetsOf(blocks, found) };
    }
  }

  /** The words that a query looks for. @param {Tree} tree */
  const wantedOf = (tree) =>
    /** @type {Words[]} */ (leaves(tree).filter(([leaf, is]) => is && leaf[0] === "words").map(([leaf]) => leaf));

  /** The order that a query calls for: a phrase, or three words and more, are those of a passage. @param {string} query
   *  @returns {"newest" | "best"} */
  function orderOf(query) {
    const inText = wantedOf(parse(query)).filter(([, field]) => field === "text");
    const terms = inText.flatMap(([, , some]) => some);
    return terms.length > 2 || terms.length > inText.length ? "best" : "newest";
  }

  /** The documents that match best: those that have the words as they were typed, one after another; by BM25 without the
   *  length of texts, words of subjects twice more; then the newest.
   *  @param {Block[]} blocks @param {Uint8Array[]} found @param {Words[]} wanted @param {number} limit @param {Asked} asked
   *  @returns {Promise<[Block, number][]>} */
  async function bestPlaces(blocks, found, wanted, limit, asked) {
    const scores = found.map((set) => new Float64Array(set.length));
    const all = blocks.reduce((sum, block) => sum + block.head.documents, 0);
    const keys = new Map(wanted.flatMap((one) => (one[1] === "name" ? [] : choicesOf(one).flatMap((forms, i) => {
      const prefix = one[3] && i === one[2].length - 1;
      return forms.flatMap((term) => [[`t:${term}`, { prefix, weight: 1 }], [`s:${term}`, { prefix, weight: 2 }]]);
    }))));
    for (const [key, { prefix, weight }] of keys) {
      const entries = await Promise.all(blocks.map((block) => block.entries(key, prefix)));
      const counts = await Promise.all(blocks.map((block, i) => (found[i].includes(1) ? countsOf(block, entries[i]) : new Map())));
      const number = entries.flat().reduce((sum, entry) => sum + ascending(entry.documents).length, 0);
      const rarity = Math.log(all / (number + 1)) + 1;
      counts.forEach((each, i) => each.forEach((count, document) => {
        scores[i][document] += (weight * rarity * count * 2.2) / (count + 1.2);
      }));
    }
    const typed = wanted.filter(([, field]) => field === "text");
    if (typed.length > 1) {
      /** @type {Words} */
      const passage = ["words", "text", typed.flatMap(([, , terms]) => terms), typed[typed.length - 1][3]];
      await Promise.all(blocks.map(async (block, i) => {
        if (found[i].includes(1)) (await matchWords(passage, block, asked)).forEach((bit, document) => (scores[i][document] += bit * 1e6));
      }));
    }
    const dates = await Promise.all(blocks.map((block, i) => (found[i].includes(1) ? block.dates() : [])));
    /** @type {{block: Block, document: number, score: number, date: number}[]} */
    const places = [];
    found.forEach((set, i) => set.forEach((bit, document) => {
      if (bit) places.push({ block: blocks[i], document, score: scores[i][document], date: dates[i][document] ?? -Infinity });
    }));
    places.sort((one, other) => other.score - one.score || later(one.date, other.date));
    return places.slice(0, limit).map(({ block, document }) => [block, document]);
  }

  /** How often documents have any of some terms. @param {Block} block @param {Entry[]} entries */
  async function countsOf(block, entries) {
    /** @type {Map<number, number>} */
    const counts = new Map();
    for (const [document, gaps] of await placesIn(block, entries)) {
      counts.set(document, (counts.get(document) ?? 0) + gaps.length);
    }
    return counts;
  }

  /** Compares dates, the later first. @param {number} one @param {number} other */
  const later = (one, other) => (one === other ? 0 : other - one);

  /** The first documents of all blocks, newest first. @param {Block[]} blocks @param {Uint8Array[]} found
   *  @param {number} limit @returns {Promise<[Block, number][]>} */
  async function firstPlaces(blocks, found, limit) {
    /** @type {{block: Block, document: number, date: number}[]} */
    const places = [];
    const newest = (/** @type {number} */ i) => blocks[i].head.newest ?? -Infinity;
    const order = [...blocks.keys()].filter((i) => found[i].includes(1)).sort((one, other) => later(newest(one), newest(other)));
    for (const i of order) {
      // What a block has is needed only where it may be as new as the last of those that are there.
      if (places.filter(({ date }) => date > newest(i)).length >= limit) break;
      const dates = await blocks[i].dates();
      let left = limit;
      for (let document = 0; document < found[i].length && left; document++) {
        if (found[i][document]) {
          places.push({ block: blocks[i], document, date: dates[document] });
          left--;
        }
      }
    }
    places.sort((one, other) => later(one.date, other.date));
    // Of equal dates in different blocks only the rows tell which comes first.
    const last = places[limit - 1]?.date;
    const near = places.filter(({ date }, i) => i < limit || date === last);
    /** @type {Map<object, Row>} */
    const rows = new Map();
    await Promise.all(
      near.map(async (place, i) => {
        const tied = [near[i - 1], near[i + 1]].some((other) => other?.date === place.date);
        if (tied) rows.set(place, await place.block.row(place.document));
      }),
    );
    near.sort((one, other) => {
      const order = later(one.date, other.date);
      if (order || one.block === other.block) return order || one.document - other.document;
      const [left, right] = [/** @type {Row} */ (rows.get(one)), /** @type {Row} */ (rows.get(other))];
      return compare(left[1], right[1]) || compare(left[0], right[0]) || left[2] - right[2] || left[3] - right[3];
    });
    return near.slice(0, limit).map((place) => [place.block, place.document]);
  }

  /** 1 for each artifact of a block that has a hit, else 0: of a transcript each turn may be one.
   *  @param {Block} block @param {Uint8Array} found */
  function shares(block, found) {
    const has = new Uint8Array(block.head.artifacts);
    block.artifacts.forEach((artifact, document) => (has[artifact] |= found[document]));
    return has;
  }

  /** Of the documents found in a block the first of each artifact. @param {Block} block @param {Uint8Array} found */
  function firsts(block, found) {
    const [seen, kept] = [new Uint8Array(block.head.artifacts), new Uint8Array(found.length)];
    block.artifacts.forEach((artifact, document) => {
      if (found[document] && !seen[artifact]) seen[artifact] = kept[document] = 1;
    });
    return kept;
  }

  /** How many artifacts with hits are of each kind, system, position and year. @param {Block[]} blocks @param {Uint8Array[]} found
   *  @returns {Promise<Facets>} */
  async function facetsOf(blocks, found) {
    /** @type {Record<string, Map<string, number>>} */
    const counts = { kind: new Map(), system: new Map(), position: new Map(), year: new Map() };
    const add = (/** @type {string} */ name, /** @type {string} */ value, /** @type {number} */ count) => {
      if (count) counts[name].set(value, (counts[name].get(value) ?? 0) + count);
    };
    await Promise.all(
      blocks.map(async (block, i) => {
        if (!found[i].includes(1)) return;
        const has = shares(block, found[i]);
        const facets = await (await block.states()).get("i", 0, (value) => value);
        for (const [name, values] of Object.entries(facets)) {
          for (const [value, artifacts] of Object.entries(/** @type {Record<string, string>} */ (values))) {
            add(name, value, ascending(artifacts).reduce((count, artifact) => count + has[artifact], 0));
          }
        }
        let artifact = 0;
        for (const [year, count] of block.head.years) {
          add("year", year, has.subarray(artifact, artifact + count).reduce((sum, each) => sum + each, 0));
          artifact += count;
        }
      }),
    );
    return Object.fromEntries(Object.entries(counts).map(([name, values]) => [name, [...values].sort((one, other) =>
      name === "year" ? compare(other[0], one[0]) : other[1] - one[1] || compare(one[0], other[0]),
    )]));
  }

  /** How many letters have to be put in, taken out, changed or swapped. @param {string} one @param {string} other */
  function distance(one, other) {
    /** @type {number[][]} */
    const rows = [Array.from({ length: other.length + 1 }, (_, i) => i)];
    for (let i = 1; i <= one.length; i++) {
      rows[i] = [i];
      for (let j = 1; j <= other.length; j++) {
        const is = one[i - 1] === other[j - 1];
        rows[i][j] = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (is ? 0 : 1));
        if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) {
          rows[i][j] = Math.min(rows[i][j], rows[i - 2][j - 2] + 1);
        }
      }
    }
    return rows[one.length][other.length];
  }

  // Excerpts

  /** @param {Words} words */
  const keysOf = ([, , terms, prefix]) => terms.map((term, i) => (prefix && i === terms.length - 1 ? `${term}*` : term));

  /** Of what is found at places in order, that from which on most different keys are near, and the nearest together.
   *  @template {{key: string, at: number, end: number}} T @param {T[]} found @param {number} near */
  function best(found, near) {
    /** @type {T | undefined} */
    let chosen;
    let [most, least] = [0, 0];
    found.forEach((one, first) => {
      const keys = new Set();
      let last = one.at;
      for (let i = first; i < found.length && found[i].end <= one.at + near; i++) {
        if (!keys.has(found[i].key)) last = found[i].at;
        keys.add(found[i].key);
      }
      if (keys.size < most || (keys.size === most && last - one.at >= least)) return;
      [chosen, most, least] = [one, keys.size, last - one.at];
    });
    return chosen;
  }

  /** @typedef {{key: string, at: number, end: number}} Found a word that is wanted, and where it is */

  /** The wanted words of a text; of a phrase only whole ones. @param {string} text @param {Words[]} wanted
   *  @returns {Found[]} */
  function wordsIn(text, wanted) {
    const all = words(text);
    /** @type {Map<number, Word[]>} */
    const at = new Map();
    for (const word of all) at.set(word.position, [...(at.get(word.position) ?? []), word]);
    return wanted.flatMap((one) => {
      const [keys, choices] = [keysOf(one), choicesOf(one)];
      const is = (/** @type {Word} */ word, /** @type {number} */ i) =>
        keys[i].endsWith("*") ? word.term.startsWith(one[2][i]) : choices[i].includes(word.term);
      return all.filter((word) => is(word, 0)).flatMap((word) => {
        const chain = keys.map((key, i) => ({ key, word: i ? at.get(word.position + i)?.find((next) => is(next, i)) : word }));
        return chain.flatMap(({ key, word: each }) => (each && chain.every((link) => link.word) ? [{ key, at: each.start, end: each.end }] : []));
      });
    }).sort((one, other) => one.at - other.at || one.end - other.end);
  }

  /** A text from one place to another in pieces, each marked or not. @param {string} text @param {Found[]} found
   *  @param {number} place @param {number} end @returns {[string, boolean][]} */
  function marked(text, found, place, end) {
    /** @type {[string, boolean][]} */
    const pieces = [];
    for (const word of found) {
      const last = pieces[pieces.length - 1];
      const from = Math.max(word.at, place);
      if (word.end <= place) continue;
      if (from > place) pieces.push([text.slice(place, from), false]);
      if (from === place && last?.[1]) last[0] += text.slice(from, word.end);
      else pieces.push([text.slice(from, word.end), true]);
      place = word.end;
    }
    if (place < end) pieces.push([text.slice(place, end), false]);
    return pieces;
  }

  /** The lines of a piece around the wanted words. With the anchor of the line where they are first, the words there,
   *  and how many of those wanted are together.
   *  @param {string} piece @param {Words[]} wanted @returns {Passage} */
  function mark(piece, wanted) {
    const lines = piece.split("\n").map((line) => line.split("\t"));
    const text = lines.map((line) => line[line.length - 1]).join(" ");
    const found = wordsIn(text, wanted);
    const first = best(found, 200);
    let start = first && first.at > 40 ? text.indexOf(" ", first.at - 40) + 1 : 0;
    if (first && (start > first.at || (!start && first.at > 40))) start = first.at - 40;
    let end = Math.min(text.length, start + 240);
    const inside = found.filter((word) => word.at >= start && word.end <= end);
    if (end < text.length) end = Math.max(text.lastIndexOf(" ", end - 1), ...inside.map((word) => word.end));
    const pieces = marked(text, inside, start, end);
    if (start) pieces.unshift(["… ", false]);
    if (end < text.length) {
      const last = pieces[pieces.length - 1];
      if (last && !last[1]) last[0] += " …";
      else pieces.push([" …", false]);
    }
    let anchor = "";
    let said = "";
    let before = 0;
    for (const line of lines) {
      const own = line[line.length - 1];
      if (!first || before > first.at) break;
      if (line.length > 1) anchor = line[0];
      const [from, to] = [first.at - before, first.end - before];
      said = `${/(?:[^\s|]+ ){0,3}\S*$/.exec(own.slice(0, from))?.[0]}${own.slice(from, to)}${/^\S*(?: [^\s|]+){0,4}/.exec(own.slice(to))?.[0]}`;
      before += own.length + 1;
    }
    return { excerpt: pieces, anchor, words: said, found: new Set(inside.map(({ key }) => key)).size };
  }

  return { Searcher, QueryError, FIELDS, noFields, peopleIn, edits, orderOf, parse, formsOf, words, prepare, keyword, foldCharacter, compare };
})();

Object.assign(globalThis, { memositeSearch });

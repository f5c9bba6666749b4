/* memosite: the Cite dialog. It writes citations as archive/cite.py and quotes/citations.py do, of what the page says
   below each Cite. Without it, that can be read and copied. It is loaded by memosite.js when it is first used. */

/** @typedef {{speaker: string, quote: string, title: string, ref: string, time: string, url: string, check: string}} Citation */
/** @typedef {{citation: Citation, link: string, range: Range | null}} Choice */

const citing = (() => {
"use strict";

/** One line, with the white space that Python knows. @param {string} text */
const line = (text) => text.split(/(?:[\x1c-\x1f\x85]|(?!\ufeff)\s)+/u).filter(Boolean).join(" ");

/** @param {string} text */
const html = (text) => line(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** @param {string} text */
const attribute = (text) => html(text).replaceAll('"', "&quot;").replaceAll("'", "&#x27;");

/** @param {string} text */
const escaped = (text) => line(text).replace(/[\\`*_[\]<>#|~&]/g, "\\$&");

/** @param {string[]} parts @param {string} joint */
const joined = (parts, joint) => parts.filter(Boolean).join(joint);

/** @param {Citation} citation */
function toText({ speaker, quote, title, ref, time, url, check }) {
  return line(joined([joined([speaker, quote && `“${quote}”`], ": "), `${title} (${ref})`, time, url, check], ". "));
}

/** @param {Citation} citation */
function toMarkdown({ speaker, quote, title, ref, time, url, check }) {
  const where = `[${escaped(title)}](<${url}>)`;
  const source = `— ${joined([escaped(speaker), where, `\`${ref}\``, escaped(time), escaped(check)], ", ")}`;
  return quote ? `> ${escaped(quote)}\n>\n> ${source}` : source;
}

/** @param {Citation} citation */
function toHtml({ speaker, quote, title, ref, time, url, check }) {
  const block = quote && `<blockquote cite="${attribute(url)}"><p>${html(quote)}</p></blockquote>\n`;
  const link = `<a href="${attribute(url)}">${html(title)}</a>`;
  const when = time && `<time datetime="${attribute(time)}">${html(time)}</time>`;
  const parts = [html(speaker), link, `<code>${html(ref)}</code>`, when, `<code>${html(check)}</code>`];
  return `<figure class="citation">\n${block}<figcaption>— ${joined(parts, ", ")}</figcaption>\n</figure>\n`;
}

/** Of ASCII: browsers offer theirs only where the site has https. @param {string} text */
function sha256(text) {
  const primes = [2];
  for (let n = 3; primes.length < 64; n++) if (primes.every((prime) => n % prime)) primes.push(n);
  /** @param {number} root */
  const fraction = (root) => ((root % 1) * 2 ** 32) | 0;
  const [state, keys] = [primes.slice(0, 8).map(Math.sqrt).map(fraction), primes.map(Math.cbrt).map(fraction)];
  const words = new Int32Array(((text.length + 8) >> 6) * 16 + 16);
  for (const [i, char] of [...text, "\x80"].entries()) words[i >> 2] |= char.charCodeAt(0) << (24 - (i % 4) * 8);
  words[words.length - 1] = text.length * 8;
  /** @param {number} word @param {number[]} by */
  const turned = (word, ...by) => by.reduce((sum, n) => sum ^ (word >>> n) ^ (word << (32 - n)), 0);
  for (let start = 0; start < words.length; start += 16) {
    const w = [...words.subarray(start, start + 16)];
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i++) {
      const [x, y] = [w[i - 15], w[i - 2]];
      w[i] ??= (w[i - 16] + (turned(x, 7, 18) ^ (x >>> 3)) + w[i - 7] + (turned(y, 17, 19) ^ (y >>> 10))) | 0;
      const one = h + turned(e, 6, 11, 25) + ((e & f) ^ (~e & g)) + keys[i] + w[i];
      const two = turned(a, 2, 13, 22) + ((a & b) ^ (a & c) ^ (b & c));
      [a, b, c, d, e, f, g, h] = [(one + two) | 0, a, b, c, (d + one) | 0, e, f, g];
    }
    [a, b, c, d, e, f, g, h].forEach((value, i) => { state[i] = (state[i] + value) | 0; });
  }
  return state.map((word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
}

/** What is quoted of a range: all that is selected of it if that is short, else its first and its last words.
 * @param {string} words */
function endsOf(words) {
  if (words.length <= 400) return words;
  return `${words.slice(0, 240).replace(/\s\S*$/, "")} ${LEFT_OUT} ${words.slice(-120).replace(/^\S*\s/, "")}`;
}

/** The citation of the turns from the first of these to the last. Its digest is that of their digests, a line each.
 * @param {Citation[]} turns @returns {Citation} */
function rangeOf(turns) {
  const [first, last] = [turns[0], turns[turns.length - 1]];
  const digest = sha256(turns.map(({ check }) => `${check.slice(7, 71)}\n`).join(""));
  const speaker = [...new Set(turns.map((turn) => turn.speaker))].join(", ");
  return {
    ...first,
    ref: `${first.ref}-${last.ref.split("#")[1]}`,
    speaker: speaker.length > 200 ? `${speaker.slice(0, 199)}…` : speaker,
    check: `sha256:${digest}${first.check.slice(71)}`,
  };
}

/** @param {string} text */
const encoded = (text) => encodeURIComponent(text).replace(/[-!'()*~]/g, (char) => (
  `%${char.charCodeAt(0).toString(16).toUpperCase()}`));

/** The citation of words that a text only holds: nobody there said them. @param {Citation} citation @returns {Citation} */
function carried(citation) {
  const { speaker, check } = citation;
  const note = `quoted in a turn of ${speaker.replace(/[()]/g, "")}`;
  return { ...citation, speaker: "", check: check.endsWith(")") ? `${check.slice(0, -1)}, ${note})` : `${check} (${note})` };
}

/** How an address names words of its page (a text fragment): all of few, else the first and the last. Browsers take the
 * first place that fits: words that are before it too get those that precede them in their block, or "" if all are.
 * @param {string[]} blocks @param {string} before @param {string} prefix */
function textFragment(blocks, before, prefix) {
  const [first, last] = [blocks[0].split(" "), blocks[blocks.length - 1].split(" ")];
  const isShort = blocks.length === 1 && (first.length < 12 || blocks[0].length <= 120);
  const words = isShort ? blocks : [first.slice(0, 6).join(" "), last.slice(-6).join(" ")];
  const earlier = line(prefix).split(" ").slice(-5).join(" ");
  /** As browsers compare. @param {string} text */
  const compared = (text) => line(text).normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  const known = compared(before);
  const isKnown = known.includes(compared(words[0]));
  if (isKnown && known.includes(compared(earlier && `${earlier} ${words[0]}`))) return "";
  return `:~:text=${isKnown ? `${encoded(earlier)}-,` : ""}${words.map(encoded).join(",")}`;
}

/** In scripts with spaces between words. */
const WORD = "(?:(?![\\p{scx=Han}\\p{scx=Hira}\\p{scx=Kana}\\p{scx=Thai}\\p{scx=Khmr}])\\S)*";
const [FIRST, LAST] = [RegExp(`${WORD}$`, "u"), RegExp(`^${WORD}`, "u")];

/** How many characters more make whole words of what is selected.
 * @param {string} before @param {string} inside @param {string} after @returns {[number, number]} */
function toWholeWords(before, inside, after) {
  const start = FIRST.exec(before.slice(-99))?.[0].replace(/^[^\p{L}\p{N}]+/u, "") ?? "";
  const end = LAST.exec(after.slice(0, 99))?.[0].replace(/[^\p{L}\p{N}]+$/u, "") ?? "";
  return [/^\s/.test(inside) ? 0 : start.length, /\s$/.test(inside) ? 0 : end.length];
}

const root = typeof document === "undefined" ? null : document.documentElement;
const BODIES = "main .text :is(.prose, .verbatim)";
const BLOCK = ":is(p, li, pre, blockquote, h2, h3, h4, h5, h6, td, th, div, br, details)";
const NO_WORDS = ".anchor, .footnote-ref, .footnote-backref, summary, button";
const OTHERS = ".tool, aside.prose, blockquote";
const LEFT_OUT = "[…]";

/** @param {string} selector */
const all = (selector) => [...document.querySelectorAll(selector)];

/** @param {Node | null} node */
const elementOf = (node) => (node instanceof Element ? node : node?.parentElement ?? null);

/** @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag @param {Partial<HTMLElementTagNameMap[K]>} [values] @param {(string | Node)[]} content */
function make(tag, values = {}, ...content) {
  const element = document.createElement(tag);
  Object.assign(/** @type {object} */ (element), values);
  element.append(...content);
  return element;
}

/** An address in this site, which the page has as a path or where the site is published, as the reader has it.
 * @param {string} url */
function here(url) {
  const { isServed, published, siteRoot } = memosite;
  const base = published() || siteRoot;
  const known = new URL(url, base).href;
  const [path, ...rest] = (known.startsWith(base) ? siteRoot + known.slice(base.length) : known).split("#");
  return [!isServed && path.endsWith("/") ? `${path}index.html` : path, ...rest].join("#");
}

/** The same for others: where only the reader can open it, at its published address. @param {string} url */
const reachable = (url) => (memosite.isLocal && memosite.published() ? url : here(url));

/** The Cite of a turn, of a memo in its thread, or of the whole text. @param {Element | Document} place */
const citeOf = (place) => place.querySelector(place === document ? "main .text > .cite" : ":scope > .cite");

/** What the page says below a Cite. @param {Element | null} details @returns {Citation} */
function readCitation(details) {
  const [speaker, quote, title, ref, time, url, check] = [".by", ".said", "cite", ".ref", ".at", "a", ".check"].map((part) => (
    line(details?.querySelector(part)?.textContent ?? "")));
  return { speaker, quote, title, ref, time, url: reachable(url), check };
}

/** @param {Range} range @param {Node} body */
function within(range, body) {
  const part = document.createRange();
  part.selectNodeContents(body);
  if (range.compareBoundaryPoints(Range.START_TO_START, part) > 0) part.setStart(range.startContainer, range.startOffset);
  if (range.compareBoundaryPoints(Range.END_TO_END, part) < 0) part.setEnd(range.endContainer, range.endOffset);
  return part;
}

/** Block by block, without what is folded; with the marks of what is struck out. @param {Range} part */
function wordsOf(part, struck = "~~") {
  const copy = part.cloneContents();
  for (const folded of copy.querySelectorAll("details:not([open])")) folded.replaceWith("\0", LEFT_OUT, "\0");
  for (const other of copy.querySelectorAll(NO_WORDS)) other.remove();
  for (const gone of copy.querySelectorAll("s")) gone.textContent = `${struck}${gone.textContent}${struck}`;
  for (const block of copy.querySelectorAll(BLOCK)) {
    block.before("\0");
    block.after("\0");
  }
  return (copy.textContent ?? "").split("\0").map(line).filter(Boolean);
}

/** Whether words of it are tool output, injected text or a block quote. @param {Range} part */
function isCarried(part) {
  const isInside = elementOf(part.commonAncestorContainer)?.closest(OTHERS);
  return isInside || [...part.cloneContents().querySelectorAll("blockquote")].some((one) => line(one.textContent ?? ""));
}

function selectedRange() {
  const selection = getSelection();
  if (!selection?.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0).cloneRange();
  const [start, end] = [range.startContainer, range.endContainer];
  const [before, after] = [start, end].map((node) => (node instanceof Text ? node.data : ""));
  const [left, right] = toWholeWords(before.slice(0, range.startOffset), range.toString(), after.slice(range.endOffset));
  if (left) range.setStart(start, range.startOffset - left);
  if (right) range.setEnd(end, range.endOffset + right);
  return range;
}

/** What a selection cites: words of a turn, a range of turns, words of the whole text; in a thread, of its first memo.
 * @returns {Choice | null} */
function choiceOfSelection() {
  const range = selectedRange();
  let parts = all(BODIES).filter((body) => range?.intersectsNode(body) && body.checkVisibility())
    .map((body) => within(/** @type {Range} */ (range), body)).filter((part) => wordsOf(part).length);
  if (!range || !parts.length) return null;
  const memo = elementOf(parts[0].startContainer)?.closest(".member");
  parts = parts.filter((part) => !memo || memo.contains(part.startContainer));
  const blocks = parts.map((part) => wordsOf(part));
  const quote = blocks.map((words) => words.join(" ")).join(` ${LEFT_OUT} `);
  const turns = all(".turn");
  const [first, last] = [parts[0], parts[parts.length - 1]].map((part) => (
    turns.findIndex((turn) => turn.contains(part.startContainer))));
  const cited = turns.slice(first, last + 1).filter((turn) => turn.childElementCount > 1).map(citeOf);
  const whole = citeOf(memo ?? document);
  let citation = { ...readCitation(whole), quote };
  if (first >= 0 && cited.every(Boolean)) {
    citation = first === last ? { ...readCitation(cited[0]), quote } : { ...rangeOf(cited.map(readCitation)), quote: endsOf(quote) };
  } else if (whole) {
    const passage = elementOf(parts[0].startContainer)?.closest(":is(.prose, .verbatim) [id]");
    if (passage) citation.url += `#${encodeURIComponent(memo ? passage.id.replace(/^m\d+-/, "") : passage.id)}`;
  } else return null;
  if (citation.speaker && parts.some(isCarried)) citation = carried(citation);
  const words = parts.flatMap((part) => wordsOf(part, "")).filter((one) => one !== LEFT_OUT);
  return { citation, link: citation.url + fragmentOf(parts[0], words, memo ?? document.body), range };
}

/** @param {Range} part @param {string[]} words @param {Element} text */
function fragmentOf(part, words, text) {
  const block = elementOf(part.startContainer)?.closest(BLOCK);
  const [before, prefix] = [text, block ?? text].map((from) => {
    const range = part.cloneRange();
    range.collapse(true);
    range.setStart(from, 0);
    return range.toString();
  });
  return words.length ? textFragment(words, before, prefix) : "";
}

/** @param {Choice} choice */
function show({ citation, link, range }) {
  const status = make("p", { className: "facts", role: "status" });
  const dialog = make("dialog", { className: "citing", ariaLabel: _("Cite") });
  dialog.append(make("h2", {}, _("Cite"), " ", make("code", { className: "facts" }, citation.ref)));
  const links = link === here(link) ? { Link: link } : { [_("Published link")]: link, [_("Link on this machine only")]: here(link) };
  const formats = { ...links, Markdown: toMarkdown(citation), HTML: toHtml(citation), Text: toText(citation) };
  for (const [label, value] of Object.entries(formats)) {
    const area = make("textarea", { id: `_${label.replaceAll(" ", "-")}`, readOnly: true, rows: label in links ? 2 : 3, value });
    const words = [make("span", {}, _("Copy")), make("span", { className: "unseen" }, ` ${label}`)];
    const button = make("button", { className: "copy" }, ...words);
    button.onclick = () => void memosite.copy(button, label, value, area, status);
    dialog.append(make("label", { className: "facts", htmlFor: area.id }, label), button, area);
  }
  if (link.startsWith("file:")) {
    const path = link.slice(memosite.siteRoot.length).replace(/#?:~:.*/, "");
    dialog.append(make("p", { className: "facts" }, _("The link works on this machine only. The path in the site:"), " ", make("code", {}, path)));
  }
  dialog.append(status, make("button", { onclick: () => dialog.close() }, _("Close")));
  dialog.onclose = () => {
    dialog.remove();
    if (range) getSelection()?.setBaseAndExtent(range.startContainer, range.startOffset, range.endContainer, range.endOffset);
  };
  document.body.append(dialog);
  dialog.showModal();
}

/** Cites a turn or the whole text; or else what is selected, the turn that has the focus, the memo of a thread that is
 * in view, the whole text.
 * @param {Element} [details] */
function cite(details) {
  const [choice, turn] = [details ? null : choiceOfSelection(), document.activeElement?.closest(".turn, .member")];
  const inView = all(".member").find((memo) => memo.getBoundingClientRect().bottom > innerHeight / 4);
  const place = details ?? citeOf(turn ?? inView ?? document) ?? citeOf(document);
  if (choice || !place) return choice && show(choice);
  place.querySelector("summary")?.focus({ preventScroll: true }); // where the focus returns to
  const citation = readCitation(place);
  show({ citation, link: citation.url, range: null });
}

/** A Cite below what is selected. */
function addPick() {
  const pick = make("button", { className: "pick", hidden: true }, _("Cite"));
  const place = () => requestAnimationFrame(() => {
    const isBusy = document.querySelector("dialog[open]") || (root?.matches(":active") && !pick.matches(":active"));
    const range = isBusy ? null : selectedRange();
    pick.hidden = !range || !all(BODIES).some((body) => range.intersectsNode(body));
    const end = [...range?.getClientRects() ?? []].pop();
    if (pick.hidden || !end) return;
    const most = document.body.clientWidth - pick.offsetWidth - 8;
    pick.style.left = `${scrollX + Math.max(8, Math.min(end.right - pick.offsetWidth / 2, most))}px`;
    pick.style.top = `${scrollY + end.bottom + 6}px`;
  });
  pick.onmousedown = (event) => event.preventDefault(); // the selection stays
  pick.onclick = () => cite();
  document.querySelector("main")?.append(pick);
  for (const name of ["selectionchange", "mouseup"]) document.addEventListener(name, place);
  place();
}

if (root) addPick(); // the page is read by now: it is loaded when it is needed
return { cite, rangeOf, textFragment, toHtml, toMarkdown, toText, toWholeWords };
})();

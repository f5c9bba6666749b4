/* memosite: what a page does beyond being read. All can be read without it, and nothing it adds moves the text.
   It comes while the page is still read (async), chooses the theme at once, and waits with the rest until the page is
   read, but not for scripts that only some pages have: these are deferred, and DOMContentLoaded waits for them. */

/** @typedef {"light" | "dark"} Theme */
/** @typedef {{before: string[], seen: string[], at: number}} Visits what home showed, at this visit and before it */

const memosite = (() => {
"use strict";

const DAY = 86_400_000;
const VISIT = 1_800_000; // after half an hour, coming back is another visit
const OLD = 2 * DAY; // a site that is built each night may miss one
const HEAD = 68; // pixels that the head of a page takes, as in the style sheet
const PIECE = 5; // milliseconds of layout at a time: on a slow phone too, a reader's touch is answered at once

/* Decisions: no page, no clock. */

/** How long ago an ISO 8601 date is, "" if it lies ahead; a day without a time counts in days.
 * @param {string} date @param {number} now */
function ago(date, now) {
  const isDay = date.length === 10;
  const passed = isDay ? (Math.floor(now / DAY) - Math.floor(Date.parse(date) / DAY)) * DAY : now - Date.parse(date);
  if (!(passed >= 0)) return "";
  if (passed < DAY && isDay) return _("today");
  if (passed < 60_000) return _("just now");
  let number = Math.floor(passed / 60_000);
  if (number < 60) return _n(number, `${number} minute ago`, `${number} minutes ago`);
  number = Math.floor(passed / 3_600_000);
  if (number < 24) return _n(number, `${number} hour ago`, `${number} hours ago`);
  number = Math.floor(passed / DAY);
  if (number < 60) return _n(number, `${number} day ago`, `${number} days ago`);
  const isYears = number >= 730;
  number = Math.floor(passed / (isYears ? 365.25 * DAY : 30.44 * DAY));
  if (isYears) return _n(number, `${number} year ago`, `${number} years ago`);
  return _n(number, `${number} month ago`, `${number} months ago`);
}

/** The other theme, and what to keep of it: nothing if it is the system's own.
 * @param {Theme} shown @param {Theme} system @returns {Theme | null} */
function otherTheme(shown, system) {
  const other = shown === "dark" ? "light" : "dark";
  return other === system ? null : other;
}

/** What is new of the rows on home, newest first. One below all known ones came up from beyond the list's end.
 * @param {Visits | null} last @param {string[]} rows @param {number} now
 * @returns {{visits: Visits, fresh: string[]}} */
function visit(last, rows, now) {
  const before = !last ? rows : now - last.at > VISIT ? last.seen : last.before;
  const end = rows.findLastIndex((row) => before.includes(row));
  const fresh = rows.slice(0, end < 0 ? rows.length : end).filter((row) => !before.includes(row));
  return { visits: { before, seen: rows, at: now }, fresh };
}

/** Which stop comes next, or -1. `tops` are pixels from the window's top; `current` is -1 if none has the focus.
 * @param {number[]} tops @param {number} current @param {1 | -1} step */
function nextStop(tops, current, step) {
  if (current < 0) return step > 0 ? tops.findIndex((top) => top > 40) : tops.findLastIndex((top) => top < -40);
  return current + step < tops.length ? current + step : -1;
}

/** Which part of a transcript to look at for an anchor that the part `here` does not have; -1 for none.
 * A turn is on the last of those parts that begin with it or before it; its passages may be on the parts after that,
 * which begin within it. The hash of a turn does not say where that is: the outline does, or else one part after the
 * other is tried.
 * @param {string} anchor @param {{turn: number, within: number, isListed: boolean}[]} parts @param {number} here */
function partOf(anchor, parts, here) {
  const [found, number] = /^t(\d+)/.exec(anchor) ?? ["", ""];
  if (found) {
    const turn = Number(number);
    const first = parts.findLastIndex((part) => part.turn <= turn);
    if (anchor === found || (here !== first && parts[here]?.within !== turn)) return first;
    return parts[here + 1]?.within === turn ? here + 1 : here;
  }
  if (!/^t-[\da-f]{8}/.test(anchor)) return -1;
  return parts.findIndex((part, index) => index > here && !part.isListed);
}

/** What home says of the build.
 * @param {{built?: string, outcome?: string}} status @param {number} now */
function ageLine({ built = "", outcome = "ok" }, now) {
  const day = `${built.slice(0, 16).replace("T", " ")} UTC`;
  const passed = ago(built, now);
  if (Number.isNaN(Date.parse(built))) return { text: "", isOld: false };
  if (outcome !== "ok") return { text: _(`The last build, ${day}, did not succeed.`), isOld: true };
  const isOld = now - Date.parse(built) > OLD;
  if (isOld) return { text: _(`Last built ${passed}, ${day}. Newer memos are not shown.`), isOld };
  return { text: `${_(`Built ${day}`)}${passed && ` · ${passed}`}`, isOld };
}

/* The page. */

const root = typeof document === "undefined" ? null : document.documentElement;
const own = /** @type {HTMLScriptElement | null} */ (root && document.currentScript);
const siteRoot = own ? new URL("..", own.src).href : "";
const isServed = siteRoot.startsWith("http");
const isLocal = Boolean(root) && (!isServed || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(location.hostname)); // others cannot open it

/** The top of the site where it is published, "" if it does not say. */
function published() {
  const canonical = /** @type {HTMLLinkElement | null} */ (one("link[rel=canonical]"));
  return canonical ? new URL("..", new URL(own?.getAttribute("src") ?? "", canonical.href)).href : "";
}

/** @param {string} key */
function read(key) {
  try { return localStorage.getItem(key); } catch { return null; } // storage may be forbidden
}

/** @param {string} key @param {string | null} value */
function keep(key, value) {
  try { value === null ? localStorage.removeItem(key) : localStorage.setItem(key, value); } catch { /* forgotten */ }
}

/** @param {string} selector */
const one = (selector) => /** @type {HTMLElement | null} */ (document.querySelector(selector));

/** @param {string} selector */
const all = (selector) => /** @type {HTMLElement[]} */ ([...document.querySelectorAll(selector)]);

/** @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag @param {string} text @param {string} [name] its class */
function make(tag, text, name) {
  const element = document.createElement(tag);
  element.textContent = text;
  if (name) element.className = name;
  return element;
}

/** @returns {Theme} */
const systemTheme = () => (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

/** @returns {Theme | null} */
function chosenTheme() {
  const kept = read("memosite-theme");
  return kept === "light" || kept === "dark" ? kept : null;
}

function showTheme() {
  const chosen = chosenTheme();
  root?.setAttribute("data-theme", chosen ?? "");
  one("meta[name=color-scheme]")?.setAttribute("content", chosen ?? "light dark");
  one(".switch")?.setAttribute("aria-pressed", String((chosen ?? systemTheme()) === "dark"));
}

function addSwitch() {
  one(".switch")?.addEventListener("click", () => {
    keep("memosite-theme", otherTheme(chosenTheme() ?? systemTheme(), systemTheme()));
    showTheme();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);
  addEventListener("storage", showTheme); // another window chose,
  addEventListener("pageshow", showTheme); // or this one did before it went back to this page
}

/** Commands name the site at this address, in letters that shells leave alone. @param {string} address */
function nameSite(address) {
  const safe = address.replace(/[^\w.:/%[\]-]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
  for (const place of all("[data-address]")) place.textContent = safe;
}

/** They name it where the reader has it; from disk it has no address. */
function addAddress() {
  if (isServed) nameSite(siteRoot);
}

/** Says how long ago: behind a time that has a line of its own, else where one points at it. */
function addAgo() {
  for (const time of all("time[datetime]")) {
    const words = ago(time.getAttribute("datetime") ?? "", Date.now());
    if (!words) continue;
    if (time.dataset.ago === "") time.after(make("span", ` · ${words}`, "ago"));
    else time.title = `${time.title || time.textContent}, ${words}`;
  }
}

function markNew() {
  const rows = all("#newest .row");
  const links = rows.map((row) => row.querySelector("a.subject")?.getAttribute("href") ?? "");
  const key = `memosite-seen:${location.pathname}`;
  if (!rows.length) return;
  let last = null;
  try { last = JSON.parse(read(key) ?? "null"); } catch { /* as on a first visit */ }
  const { visits, fresh } = visit(last, links, Date.now());
  keep(key, JSON.stringify(visits));
  if (!fresh.length) return;
  for (const [index, row] of rows.entries()) {
    if (!fresh.includes(links[index])) continue;
    row.classList.add("new");
    row.append(make("span", _("new since your last visit"), "unseen"));
  }
  one("#newest h2")?.append(make("span", `${fresh.length} new since your last visit`, "total"));
}

async function showAge() {
  const line = one("[data-status]");
  if (!line?.dataset.status || !isServed) return;
  try {
    const answer = await fetch(line.dataset.status, { cache: "no-cache" });
    const { text, isOld } = ageLine(await answer.json(), Date.now());
    line.textContent = text;
    line.classList.toggle("old", isOld);
  } catch { /* the page is as good without */ }
}

function addFolding() {
  for (const button of all("[data-fold]")) {
    button.addEventListener("click", () => {
      for (const part of all("details.fold, details.tool")) part.toggleAttribute("open", button.dataset.fold === "open");
    });
  }
  addEventListener("hashchange", openTarget);
  openTarget();
  passContents();
}

/** Copies a text, and says so; where that is not allowed, as on a site without https, selects the place that has it.
 * @param {HTMLElement} button @param {string} name @param {string} text @param {HTMLElement} [place]
 * @param {HTMLElement | null} [status] */
async function copy(button, name, text, place, status = one("#_copied")) {
  for (const word of all(".copy > :first-child")) word.textContent = _("Copy");
  const word = button.firstElementChild;
  if (status) status.textContent = "";
  let said = _(`${name} copied.`);
  try {
    await navigator.clipboard.writeText(text);
    if (word) word.textContent = _("Copied");
  } catch {
    place?.focus();
    if (place instanceof HTMLTextAreaElement) place.select();
    else if (place) getSelection()?.selectAllChildren(place);
    said = place ? _(`${name} selected: press Ctrl+C to copy.`) : _("The browser does not allow copying here.");
  }
  if (status) status.textContent = said;
}

/** @param {string} hash */
function target(hash) {
  try { return document.getElementById(decodeURIComponent(hash.slice(1))); } catch { return null; }
}

/** Opens what the address names: unfolds it, or goes to the part of the transcript that has it. */
function openTarget() {
  const [anchor, words] = location.hash.split(":~:"); // an old browser
  if (words !== undefined) {
    location.replace(anchor || "#");
    return;
  }
  const place = target(location.hash);
  const isHere = place && !place.matches(".outline span");
  if (!isHere) goToPart(place?.parentElement?.id || location.hash.slice(1)); // the outline has hashes within their turns
  let isFolded = false;
  for (let part = place?.closest("details") ?? place?.querySelector(":scope > .fold"); part; part = part.parentElement?.closest("details")) {
    isFolded ||= !part.open;
    part.open = true;
  }
  if (!isFolded) return;
  place?.scrollIntoView();
  if (document.readyState !== "complete") { // a style sheet may still come, and move it
    addEventListener("load", () => place?.scrollIntoView(), { once: true });
  }
}

/** Browsers mark the first words that an address names. Where a list of contents has them, too, go on to the anchor. */
function passContents() {
  const place = target(location.hash);
  if (!place || !performance.getEntriesByType("navigation")[0].name.includes(":~:text=")) return;
  const goOn = () => setTimeout(() => {
    const { top, bottom } = place.getBoundingClientRect();
    if (bottom >= 0 && top <= innerHeight) return;
    location.replace(location.hash); // without the mark
    place.scrollIntoView();
  }, 200); // a browser looks for the words once the page is loaded
  if (document.readyState === "complete") goOn();
  else addEventListener("load", goOn);
}

/** A page that only leads on keeps the anchor that its address had. */
function leadOn() {
  const link = /** @type {HTMLAnchorElement | null} */ (one("[data-leads-on] a"));
  if (link && location.hash) location.replace(link.href.split("#")[0] + location.hash);
}

/** Leaves this part of a transcript for the one that has the anchor, if there is one. @param {string} anchor */
function goToPart(anchor) {
  const links = /** @type {HTMLAnchorElement[]} */ ([...(one(".parts")?.querySelectorAll("a[data-turn]") ?? [])]);
  const here = links.findIndex((link) => link.matches("[aria-current]"));
  const parts = links.map(({ dataset: { turn, within, unlisted } }) => (
    { turn: Number(turn), within: Number(within), isListed: unlisted === undefined }));
  const there = partOf(anchor, parts, here);
  const [, words] = performance.getEntriesByType("navigation")[0].name.split(`${location.hash}:~:`);
  if (there >= 0 && there !== here) location.replace(links[there].href + location.hash + (words ? `:~:${words}` : ""));
}

/** Marks in the outline where the reader is. */
function followOutline() {
  const outline = one(".outline");
  if (!outline) return;
  // As in the style sheet, which shows it there already.
  if (matchMedia("(min-width: 64rem)").matches) outline.querySelector(":scope > details")?.toggleAttribute("open", true);
  const links = /** @type {HTMLAnchorElement[]} */ (all('.outline ol a[href^="#"]'));
  /** @type {HTMLElement | undefined} */
  let marked;
  let waits = false;
  const mark = () => {
    waits = false;
    const here = links.findLast((link) => (target(link.hash)?.getBoundingClientRect().top ?? Infinity) < innerHeight / 3);
    if (here === marked) return;
    marked?.removeAttribute("aria-current");
    here?.setAttribute("aria-current", "true");
    marked = here;
    const [box, line] = [outline.getBoundingClientRect(), here?.getBoundingClientRect()];
    if (line && (line.top < box.top + 48 || line.bottom > box.bottom - 48)) {
      outline.scrollTop += line.top - box.top - box.height / 3;
    }
  };
  const soon = () => {
    if (!waits) requestAnimationFrame(mark);
    waits = true;
  };
  addEventListener("scroll", soon, { passive: true });
  addEventListener("resize", soon, { passive: true });
}

/** @param {1 | -1} step */
function move(step) {
  const parts = all(".turn, .member");
  const stops = parts.length ? parts : all("main a.subject");
  const current = stops.findIndex((stop) => stop.contains(document.activeElement));
  const next = stops[nextStop(stops.map((stop) => stop.getBoundingClientRect().top - HEAD), current, step)];
  if (!next) return;
  if (parts.length) next.tabIndex = -1;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: parts.length ? "start" : "nearest" });
}

/** What the keys do on this page: key, words, deed. @returns {[string, string, () => void][]} */
function keys() {
  const [next, previous] = one(".turn") ? [_("next turn"), _("previous turn")]
    : one(".member") ? [_("next memo"), _("previous memo")]
    : one("main a.subject") ? [_("next entry"), _("previous entry")] : [];
  const part = one(".parts [aria-current]")?.closest("li");
  const search = one("input[type=search]") ?? one("a[rel~=search]");
  /** @type {[string, string, unknown, () => void][]} */
  const found = [
    ["/", _("search"), search, () => (search?.matches("a") ? search.click() : search?.focus())],
    ["j", next ?? "", next, () => move(1)],
    ["k", previous ?? "", previous, () => move(-1)],
  ];
  for (const [key, words, link] of /** @type {[string, string, HTMLElement | null | undefined][]} */ ([
    ["n", _("next page"), one(".rest a[rel~=next]") ?? one("a[rel~=next]") ?? part?.nextElementSibling?.querySelector("a")],
    ["p", _("previous page"), one(".rest a[rel~=prev]") ?? one("a[rel~=prev]") ?? part?.previousElementSibling?.querySelector("a")],
    ["t", _("the whole thread"), one("[data-key=t]")],
  ])) found.push([key, words, link, () => link?.click()]);
  found.push(["c", _("cite what is selected, or this"), one(".cite"), () => cite()], ["?", _("show shortcuts"), true, help]);
  return found.filter(([, , isThere]) => isThere).map(([key, words, , deed]) => [key, words, deed]);
}

/** @type {Map<string, Promise<boolean>>} */
const loaded = new Map();

/** Loads a script that is beside this one, once. @param {string} name */
function load(name) {
  const found = loaded.get(name) ?? new Promise((resolve) => {
    const script = make("script", "");
    Object.assign(script, { src: new URL(name, own?.src), onload: () => resolve(true), onerror: () => resolve(false) });
    document.head.append(script);
  });
  loaded.set(name, found);
  return found;
}

/** Loads the Cite dialog: few readers need it. */
const loadDialog = () => load("cite.js");

/** Loads what copies and sorts, for a page that has anything to be copied or sorted. */
function addTools() {
  if (one("main :is(pre, table, .kicker)")) void load("tools.js");
}

/** Opens the dialog; if it cannot be loaded, a Cite shows its citation, as without a script.
 * @param {HTMLDetailsElement} [details] */
async function cite(details) {
  if (await loadDialog()) citing.cite(details);
  else details?.toggleAttribute("open");
}

function addCiting() {
  if (!one(".cite")) return;
  for (const summary of all(".cite > summary")) {
    summary.ariaHasPopup = "dialog";
    summary.addEventListener("click", (event) => {
      event.preventDefault();
      void cite(/** @type {HTMLDetailsElement} */ (summary.parentElement));
    });
  }
  document.addEventListener("selectionchange", () => {
    if (!getSelection()?.isCollapsed) void loadDialog();
  });
}

function help() {
  let sheet = /** @type {HTMLDialogElement | null} */ (one("dialog.sheet"));
  if (!sheet) {
    sheet = make("dialog", "", "sheet");
    const list = make("dl", "");
    for (const [key, words] of [...keys(), ["Esc", _("close")]]) {
      const term = make("dt", "");
      term.append(make("kbd", key));
      list.append(term, make("dd", words));
    }
    const close = make("button", _("Close"));
    close.addEventListener("click", () => sheet?.close());
    sheet.append(make("h2", _("Keyboard shortcuts")), list, close);
    sheet.ariaLabel = _("Keyboard shortcuts");
    document.body.append(sheet);
  }
  sheet.open ? sheet.close() : sheet.showModal();
}

function addKeys() {
  one(".keys")?.addEventListener("click", help);
  addEventListener("keydown", (event) => {
    const place = event.target instanceof HTMLElement ? event.target : null;
    const isText = place?.isContentEditable || place?.matches("input, textarea, select");
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || isText) return;
    if (one(event.key === "?" ? "dialog[open]:not(.sheet)" : "dialog[open]")) return;
    const found = keys().find(([key]) => key === event.key);
    if (!found) return;
    event.preventDefault();
    found[2]();
  });
}

/** Lays out a long transcript in pieces: as it comes, only what is in view (`content-visibility`, in the style sheet); when
 * all has come, the rest, in idle moments; then the page is as if it had been laid out at once. That it is at once where
 * the browser has a place to find, and from the first touch, key or scroll on, which need to know where everything is. */
function layOutInPieces() {
  const [visit] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType("navigation"));
  if (visit?.type !== "navigate" || visit.name.includes("#")) return; // which has text fragments, too
  if (!("requestIdleCallback" in window)) return;
  const events = ["scroll", "pointerdown", "keydown"];
  /** @type {HTMLElement[]} */
  let pieces = [];
  const end = () => {
    for (const name of events) removeEventListener(name, end);
    pieces = [];
    const read = all(".turn").find((turn) => turn.getBoundingClientRect().bottom > HEAD);
    const top = () => read?.getBoundingClientRect().top ?? 0;
    const before = top();
    root?.classList.remove("in-pieces");
    const moved = top() - before;
    if (moved) scrollBy(0, moved); // the reader has jumped over some
  };
  const next = () => {
    const start = performance.now();
    // What is in a turn that is not in view is laid out when it is asked for its height, and stays so.
    while (pieces.length && performance.now() - start < PIECE) void pieces.shift()?.offsetHeight;
    if (pieces.length) requestIdleCallback(next);
    else if (root?.matches(".in-pieces")) end();
  };
  root?.classList.add("in-pieces");
  for (const name of events) addEventListener(name, end);
  addEventListener("load", () => {
    pieces = all(".in-pieces .turn > :last-child");
    requestIdleCallback(next);
  });
}

function start() {
  for (const add of [showTheme, addSwitch, addKeys, addAgo, addAddress, addTools, markNew, addFolding, addCiting, followOutline, leadOn]) add();
  void showAge();
}

if (root) {
  layOutInPieces();
  showTheme();
  if (document.readyState === "loading") document.addEventListener("readystatechange", start, { once: true });
  else start();
}
return { ago, ageLine, all, copy, isLocal, isServed, make, nameSite, nextStop, one, otherTheme, partOf, published, siteRoot, visit };
})();

/* memosite: the page of feeds: one command with the position that is chosen, those that the reader saw last first. */

(() => {
"use strict";

/** @param {string} selector */
const all = (selector) => /** @type {HTMLElement[]} */ ([...document.querySelectorAll(selector)]);

const key = `memosite-positions:${new URL("..", /** @type {HTMLScriptElement} */ (document.currentScript).src).href}`;
const select = /** @type {HTMLSelectElement | null} */ (document.getElementById("position"));
const field = /** @type {HTMLInputElement | null} */ (document.getElementById("filter"));
const status = field?.parentElement?.querySelector("[role=status]");
const options = [...(select?.options ?? [])];

/** The positions whose pages the reader saw last (board.js keeps them), the last one first. @returns {string[]} */
function seen() {
  try { return JSON.parse(localStorage.getItem(key) ?? "[]"); } catch { return []; }
}

const last = seen();
const place = (/** @type {HTMLOptionElement} */ option) => (last.indexOf(option.value) + 1) || Infinity;
options.sort((a, b) => (place(a) === place(b) ? 0 : place(a) - place(b)));

const isFull = document.querySelector("[data-of=full]")?.textContent.includes("feed-full.xml");

/** A feed behind the address of the site, which memosite.js may know later, quoted for a shell.
 * @param {HTMLElement} place @param {string} path */
function put(place, path) {
  const address = place.querySelector("[data-address]");
  const quote = /[^\w@%+=:,./-]/.test(`${address?.textContent}${path}`) ? "'" : "";
  place.replaceChildren(quote, ...(address ? [address] : []), path + quote);
}

/** Commands have the feed of the position that is chosen. */
function choose() {
  const [chosen] = select?.selectedOptions ?? [];
  if (!chosen) return;
  const { feed = "", name = "", page = "" } = chosen.dataset;
  for (const place of all("[data-of=feed]")) put(place, feed);
  for (const place of all("[data-of=full]")) put(place, isFull ? feed.replace(/feed\.xml$/, "feed-full.xml") : feed);
  for (const place of all("[data-of=name]")) place.textContent = name;
  for (const place of all("[data-of=page]")) place.setAttribute("href", page);
}

/** Shows the positions and feeds that have all words. */
function filter() {
  const words = (field?.value ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  /** @param {HTMLElement} row */
  const fits = (row) => words.every((word) => `${row.textContent}`.toLowerCase().includes(word));
  const chosen = select?.value;
  const fitting = options.filter(fits);
  const known = fitting.filter((option) => last.includes(option.value));
  const group = document.createElement("optgroup");
  group.label = _("Seen last");
  group.append(...known);
  select?.replaceChildren(...(known.length ? [group] : []), ...fitting.filter((option) => !known.includes(option)));
  if (select) select.value = fitting.some((option) => option.value === chosen) ? chosen ?? "" : fitting[0]?.value ?? "";
  let shown = 0;
  for (const row of all(".feeds > li")) {
    row.hidden = !fits(row);
    if (!row.hidden) shown += 1;
  }
  if (status) status.textContent = words.length ? _(`${shown} shown`) : "";
  choose();
}

if (select && options.length) {
  select.append(...options);
  select.value = options[0].value;
  select.addEventListener("change", choose);
}
field?.addEventListener("input", filter);
filter();
})();

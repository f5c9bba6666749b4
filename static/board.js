/* memosite: fields that filter the rows of a page. */

(() => {
"use strict";

/** @param {string} selector @param {ParentNode} [within] */
const all = (selector, within = document) => /** @type {HTMLElement[]} */ ([...within.querySelectorAll(selector)]);

const root = new URL("..", /** @type {HTMLScriptElement} */ (document.currentScript).src).href;
const way = /** @type {HTMLSelectElement | null} */ (document.getElementById("way"));
const field = /** @type {HTMLInputElement | null} */ (document.getElementById("filter"));
const status = field?.parentElement?.querySelector("[role=status]");

/** Says in a heading how many of its rows are shown.
 * @param {Element | null} total @param {number} found @param {boolean} isAll */
function count(total, found, isAll) {
  if (!(total instanceof HTMLElement) || isAll) return;
  total.dataset.all ??= total.textContent ?? "";
  total.textContent = String(found);
}

function filter() {
  const words = (field?.value ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  const isAll = !words.length && !way?.value;
  let shown = 0;
  for (const total of all(":is([data-rows], .contents) .total")) total.textContent = total.dataset.all ?? total.textContent; // words are looked for in these, too
  for (const row of all(".owed tbody tr")) row.hidden = !words.every((word) => `${row.textContent}`.toLowerCase().includes(word));
  for (const section of all("[data-rows]")) {
    const above = section.querySelector("h2")?.textContent ?? "";
    let here = 0;
    for (const list of all(".rows", section)) {
      const title = list.previousElementSibling?.textContent ?? "";
      let found = 0;
      for (const row of all(".row", list)) {
        const text = `${above} ${title} ${row.textContent}`.toLowerCase();
        row.hidden = !(words.every((word) => text.includes(word)) && (!way?.value || row.dataset.way === way.value));
        if (!row.hidden) found += 1;
      }
      const heading = list.previousElementSibling;
      if (heading instanceof HTMLElement && heading.tagName === "H3") {
        heading.hidden = !found;
        count(heading.querySelector(".total"), found, isAll);
      }
      here += found;
    }
    count(section.querySelector("h2 > .total"), here, isAll);
    const isNamed = words.length > 0 && words.every((word) => above.toLowerCase().includes(word));
    section.hidden = !isAll && here === 0 && !isNamed && !section.contains(field); // without the field nobody gets back
    const link = all(".contents li").find((one) => one.querySelector("a")?.hash === `#${section.id}`);
    if (link) link.hidden = section.hidden;
    count(link?.querySelector(".total") ?? null, here, isAll);
    shown += here;
  }
  if (status) status.textContent = isAll ? "" : _(`${shown} shown`);
}

/** Keeps which positions the reader saw last, for the page of feeds. */
function remember() {
  const name = document.querySelector("h1")?.textContent ?? "";
  const key = `memosite-positions:${root}`;
  if (!document.getElementById("follow")) return;
  try {
    const before = JSON.parse(localStorage.getItem(key) ?? "[]");
    localStorage.setItem(key, JSON.stringify([name, ...before.filter((/** @type {string} */ one) => one !== name)].slice(0, 8)));
  } catch { /* storage may be forbidden */ }
}

remember();
field?.addEventListener("input", filter);
way?.addEventListener("change", filter);
if (field?.value || way?.value) filter(); // the browser kept it
})();

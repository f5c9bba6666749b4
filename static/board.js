/* memosite: fields that filter the rows of a page. */

(() => {
"use strict";

/** @param {string} selector @param {ParentNode} [within] */
const all = (selector, within = document) => /** @type {HTMLElement[]} */ ([...within.querySelectorAll(selector)]);

const way = /** @type {HTMLSelectElement | null} */ (document.getElementById("way"));
const field = /** @type {HTMLInputElement | null} */ (document.getElementById("filter"));
const status = field?.parentElement?.querySelector("[role=status]");

function filter() {
  const words = (field?.value ?? "").toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
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
        const total = /** @type {HTMLElement | null} */ (heading.querySelector(".total"));
        if (total) {
          total.dataset.all ??= total.textContent;
          total.textContent = words.length || way?.value ? String(found) : total.dataset.all;
        }
      }
      here += found;
    }
    section.hidden = words.length > 0 && here === 0 && !way;
    shown += here;
  }
  if (status) status.textContent = words.length || way?.value ? _(`${shown} shown`) : "";
}

field?.addEventListener("input", filter);
way?.addEventListener("change", filter);
if (field?.value || way?.value) filter(); // the browser kept it
})();

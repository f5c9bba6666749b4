/* memosite: filters of the findings: by how serious they are, by rule, by source. */

(() => {
"use strict";

/** @param {string} selector */
const all = (selector) => /** @type {HTMLElement[]} */ ([...document.querySelectorAll(selector)]);

const fields = /** @type {HTMLSelectElement[]} */ (all("select[data-by]"));
const status = fields[0]?.parentElement?.querySelector("[role=status]");

function filter() {
  let shown = 0;
  for (const row of all(".findings > li")) {
    row.hidden = fields.some((field) => field.value && row.dataset[field.dataset.by ?? ""] !== field.value);
    if (!row.hidden) shown += 1;
  }
  if (status) status.textContent = fields.some((field) => field.value) ? _(`${shown} shown`) : "";
}

for (const field of fields) field.addEventListener("change", filter);
if (fields.some((field) => field.value)) filter(); // the browser kept it
addEventListener("hashchange", () => { // a rule's findings may be filtered away
  if (!location.hash.startsWith("#rule-")) return;
  for (const field of fields) field.value = "";
  filter();
});
})();

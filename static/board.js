/* memosite: ages of today on home and pages of actions, decisions and positions, and fields that filter rows. */

(() => {
"use strict";

const DAY = 86_400_000;

/** @param {string} selector @param {ParentNode} [within] */
const all = (selector, within = document) => /** @type {HTMLElement[]} */ ([...within.querySelectorAll(selector)]);

// Pages count ages to the newest date of the archive; here all are counted to today (in UTC, as days are).
const today = Math.floor(Date.now() / DAY);
const counted = all("[data-counted]");
const later = Math.max(0, today - Math.floor(Date.parse(counted[0]?.dataset.counted ?? "") / DAY) || 0);
for (const place of all("[data-since]")) {
  const days = today - Math.floor(Date.parse(place.dataset.since ?? "") / DAY);
  if (days >= 0) place.textContent = _n(days, `${days} day`, `${days} days`);
}
for (const place of counted) {
  const block = place.closest("p, figcaption");
  if (block) block.style.minHeight = `${block.offsetHeight}px`; // the shorter words move nothing below
  place.textContent = _("Ages are counted to today.");
}
for (const bar of all("[data-days]")) grow(bar);

/** Counts a bar and its row of the table to today: what was under 7 or 30 days old then may be older now.
 * @param {HTMLElement} bar */
function grow(bar) {
  const table = bar.closest("figure")?.querySelector("table");
  const cells = [...(table?.tBodies[0].rows[[...(bar.parentElement?.children ?? [])].indexOf(bar)].cells ?? [])].slice(1);
  const days = (bar.dataset.days ?? "").split(" ").map(Number);
  const before = [7, 30].map((least) => days.slice(Math.max(0, least - later), least).reduce((sum, one) => sum + one, 0));
  const moved = [-before[0], before[0] - before[1], before[1]];
  const shapes = [];
  let at = 0;
  for (const [column, cell] of cells.entries()) {
    const number = Number(cell.textContent) + (moved[column] ?? 0);
    cell.textContent = String(number);
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
    title.textContent = `${table?.tHead?.rows[0].cells[column + 1].textContent}: ${number}`;
    path.setAttribute("class", bar.closest("figure")?.querySelectorAll(".legend rect")[column].getAttribute("class") ?? "");
    path.setAttribute("d", `M${at} 0h${number}v1h-${number}z`);
    path.append(title);
    if (number) shapes.push(path);
    at += number;
  }
  bar.querySelector("svg")?.replaceChildren(...shapes);
}

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

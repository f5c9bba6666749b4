/* memosite: ages of today on home and pages of actions, decisions and positions. */

(() => {
"use strict";

const DAY = 86_400_000;

/** @param {string} selector */
const all = (selector) => /** @type {HTMLElement[]} */ ([...document.querySelectorAll(selector)]);

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
})();

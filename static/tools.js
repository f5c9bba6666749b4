/* memosite: buttons that copy, and tables that can be sorted. Loaded by memosite.js for pages that have such things. */

const tools = (() => {
"use strict";

const { all, copy, isLocal, isServed, make, nameSite, one, published, siteRoot } = memosite;

/** The order of a table's rows by one of their cells: numbers, then words and dates; empty cells stay last.
 * @param {string[]} cells @param {boolean} falling */
function order(cells, falling) {
  const keys = cells.map((cell) => {
    const words = cell.trim().toLowerCase();
    const number = /^[+\-−]?[\d,]+(?:\.\d+)?(?=[\s%]|$)/.exec(words);
    return number ? Number(number[0].replaceAll(",", "").replace("−", "-")) : words;
  });
  return [...keys.keys()].sort((a, b) => {
    const [one, other] = [keys[a], keys[b]];
    if (one === "" || other === "") return Number(one === "") - Number(other === "");
    if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
    return (one < other ? -1 : one > other ? 1 : 0) * (falling ? -1 : 1);
  });
}

/** Lets tables be sorted by their heads: once, the other way round, and as they were. */
function addSorting() {
  for (const table of /** @type {HTMLTableElement[]} */ (all("main table"))) {
    const [body] = table.tBodies;
    const rows = [...(body?.rows ?? [])];
    const heads = [...(table.tHead?.rows[0]?.cells ?? [])];
    if (rows.length < 2 || table.querySelector("[colspan], [rowspan]")) continue;
    for (const [column, head] of heads.entries()) {
      if (!head.textContent.trim() || head.querySelector("a, button, input")) continue;
      const button = make("button", "", "sort");
      button.append(...head.childNodes);
      head.append(button);
      const first = /number|date/.test(head.dataset.sortType ?? "") ? "descending" : "ascending"; // the newest, the most
      button.addEventListener("click", () => {
        const sorted = !head.ariaSort ? first : head.ariaSort !== first ? null : first === "ascending" ? "descending" : "ascending";
        for (const other of heads) other.ariaSort = null;
        head.ariaSort = sorted;
        const shown = rows.map((row) => row.cells[column]);
        const cells = shown.map((cell) => (cell?.textContent.trim() ? cell.dataset.sort ?? cell.textContent : ""));
        body.append(...(sorted ? order(cells, sorted === "descending").map((index) => rows[index]) : rows));
      });
    }
  }
}

/** @param {string} name what it copies @param {() => string} text @param {() => HTMLElement | undefined} [place] */
function copyButton(name, text, place) {
  const button = make("button", "", "copy");
  button.type = "button";
  button.append(make("span", _("Copy")), make("span", ` ${name}`, [_("link"), _("local link")].includes(name) ? "" : "unseen"));
  button.onclick = () => void copy(button, name, text(), place?.());
  return button;
}

/** Adds buttons that copy the link of the page and paths of files; one for code is where the pointer or the focus is.
 * None of them takes room. */
function addCopying() {
  const status = make("div", "", "unseen");
  status.id = "_copied";
  status.role = "status";
  if (!one("#_copied")) document.body.append(status);
  for (const button of all("[data-copy]")) {
    const { copy: id = "", name = "" } = button.dataset;
    const place = document.getElementById(id);
    if (place) button.onclick = () => void copy(button, name, place.textContent, place);
  }
  const canonical = /** @type {HTMLLinkElement | null} */ (one("link[rel=canonical]"));
  const here = location.href.split("#")[0];
  const page = !canonical ? here : isLocal ? canonical.href : here.replace(/(index\.html)?(\?.*)?$/, "");
  const links = make("span", "", "links");
  links.append(copyButton(_("link"), () => page));
  if (isLocal && canonical) links.append(copyButton(_("local link"), () => here));
  one("header.title > .kicker:not(#_unknown)")?.append(links);
  for (const path of all(".copies code")) path.parentElement?.append(copyButton(_("path"), () => path.textContent));
  /** @type {HTMLElement | undefined} */
  let code;
  const button = copyButton(_("code"), () => (code?.textContent ?? "").replace(/\n$/, ""), () => code);
  button.classList.add("spot");
  /** @param {Event} event */
  const offer = ({ target }) => {
    const found = target instanceof Element ? /** @type {HTMLElement | null} */ (target.closest("main pre:not(.diff)")) : null;
    if (!found || found.closest(".copied") || button === document.activeElement) return;
    code = found;
    button.style.transform = "none";
    found.after(button);
    const [frame, own] = [found.getBoundingClientRect(), button.getBoundingClientRect()];
    button.style.transform = `translate(${frame.right - own.right - 4}px, ${frame.top - own.top + 4}px)`;
  };
  for (const kind of ["pointerover", "focusin"]) addEventListener(kind, offer, { passive: true });
}

/** Where only the reader can open the site, commands have its address there, and the published one can be chosen; then
 * feeds that are listed lead there, too. */
function addPlaces() {
  const [place, base] = [one("[data-place]"), published()];
  if (!place || !isServed || !isLocal || base === siteRoot) return;
  const select = make("select", "");
  select.setAttribute("aria-labelledby", "_place");
  select.append(new Option(_(`this machine only: ${siteRoot}`), siteRoot), new Option(_(`published: ${base}`), base));
  const links = /** @type {HTMLAnchorElement[]} */ (all(".feeds a"));
  let chosen = siteRoot;
  select.onchange = () => {
    nameSite(select.value);
    for (const link of links) if (link.href.startsWith(chosen)) link.href = select.value + link.href.slice(chosen.length);
    chosen = select.value;
  };
  place.replaceChildren(select);
}

if (typeof document !== "undefined") {
  addSorting();
  addCopying();
  addPlaces();
}
return { order };
})();

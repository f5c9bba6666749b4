/* memosite: the page for unknown addresses names what is nearest to the one that was asked for. */

(() => {
"use strict";

const SHOWN = 3;
const NEAR = 0.6; // how much of two names has to be the same
const MOST = 5_000; // artifacts of a month that are looked through

/** @param {string} name */
function pairs(name) {
  const words = name.toLowerCase();
  return [...words].slice(1).map((letter, index) => words[index] + letter);
}

/** The names that are most like one, best first: by the pairs of letters that both have.
 * @param {string} wanted @param {string[]} names */
function near(wanted, names) {
  const own = pairs(wanted);
  const likeness = (/** @type {string} */ name) => {
    const left = pairs(name);
    const total = own.length + left.length;
    let same = 0;
    for (const pair of own) {
      const at = left.indexOf(pair);
      if (at >= 0) left.splice(at, 1);
      same += Number(at >= 0);
    }
    return total ? 2 * same / total : 0;
  };
  const found = names.map((name) => ({ name, like: likeness(name) })).filter(({ like }) => like >= NEAR);
  return found.sort((one, other) => other.like - one.like).slice(0, SHOWN).map(({ name }) => name);
}

/** What an address asks for: a position, or an item with the month that its name begins with. @param {string} path */
function asked(path) {
  const [, kind, id] = /^(positions|memos|notes|transcripts|documents|threads)\/([^/]{3,300})/.exec(path) ?? [];
  const [, year, month] = /^(\d{4})-(\d{2})-/.exec(id ?? "") ?? [];
  return id ? { kind, id, month: year ? `${year}/${month}` : "undated" } : null;
}

/** @typedef {{positions: string[], months: {month: string, artifacts: number, lines: string}[]}} Index */
/** @typedef {{url: string, subject: string}} Item */

/** The pages that are nearest to an address below the top of the site.
 * @param {string} path @param {(file: string) => Promise<string>} read @returns {Promise<Item[]>} */
async function pagesNear(path, read) {
  const wanted = asked(path);
  if (!wanted) return [];
  const index = /** @type {Index} */ (JSON.parse(await read("archive/index.json")));
  if (wanted.kind === "positions") {
    return near(wanted.id, index.positions).map((id) => ({ url: `positions/${encodeURIComponent(id)}/`, subject: id }));
  }
  const month = index.months.find((one) => one.month === wanted.month);
  if (!month || month.artifacts > MOST) return [];
  const lines = (await read(`archive/${month.lines}`)).trim().split("\n");
  const items = /** @type {(Item & {id: string})[]} */ (lines.map((line) => JSON.parse(line)));
  const ids = near(wanted.id, items.map(({ id }) => id));
  return [...new Set(ids)].map((id) => /** @type {Item} */ (items.find((one) => one.id === id)));
}

async function show() {
  const list = document.getElementById("_nearest");
  const root = list?.dataset.root ?? "/";
  if (!list || list.dataset.done) return; // from disk and on a server it is found in two ways
  list.dataset.done = "1";
  if (location.protocol === "file:") {
    document.head.append(Object.assign(document.createElement("script"), { src: "static/memosite.js" })); // there the links from the top of a server lead nowhere
    for (const link of document.querySelectorAll(`a[href^="${root}"]`)) {
      link.setAttribute("href", link.getAttribute("href")?.slice(root.length) ?? "");
    }
    return;
  }
  const read = async (/** @type {string} */ file) => (await fetch(root + file)).text();
  try {
    const path = decodeURIComponent(location.pathname);
    const found = path.startsWith(root) ? await pagesNear(path.slice(root.length), read) : [];
    for (const { url, subject } of found) {
      const [row, link] = [document.createElement("li"), document.createElement("a")];
      const { pathname } = new URL(url, `${location.origin}${root}`); // absolute in an archive that knows its address
      Object.assign(link, { href: `${pathname}index.html`, textContent: subject });
      row.append(link);
      list.querySelector("ul")?.append(row);
    }
    list.hidden = !found.length;
  } catch { /* the page is as good without */ }
}

void show();
})();

/* What the pages' script decides, without a page: run by `node --test`. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import vm from "node:vm";

const source = readFileSync(new URL("../../static/memosite.js", import.meta.url), "utf8");
/** Words as in English: the theme puts those of the site's language in the place of these calls. */
const words = "const _ = (text) => text, _n = (number, one, many) => number === 1 ? one : many;";
const tools = readFileSync(new URL("../../static/tools.js", import.meta.url), "utf8");
const { order } = vm.runInNewContext(`${words} ${source}; ${tools}; tools`);
const { ago, ageLine, nextStop, otherTheme, partOf, visit } = vm.runInNewContext(`${words} ${source}; memosite`);

const NOW = Date.parse("2026-06-15T12:00:00Z");
const HOUR = 3_600_000;
/** Values of another realm have other prototypes; what counts is what they hold. */
const plain = (value) => JSON.parse(JSON.stringify(value));

test("times that passed are told in the unit that fits", () => {
  const told = {
    "2026-06-15T11:59:30Z": "just now",
    "2026-06-15T11:58:59Z": "1 minute ago",
    "2026-06-15T05:00:00-04:00": "3 hours ago",
    "2026-06-14T12:00:00Z": "1 day ago",
    "2026-06-03T11:00:00Z": "12 days ago",
    "2026-04-01T11:00:00Z": "2 months ago",
    "2025-06-15T11:00:00Z": "11 months ago",
    "2023-06-15T11:00:00Z": "3 years ago",
  };
  for (const [date, words] of Object.entries(told)) assert.equal(ago(date, NOW), words, date);
});

test("a day without a time counts in days", () => {
  assert.equal(ago("2026-06-15", NOW), "today");
  assert.equal(ago("2026-06-14", NOW), "1 day ago");
  assert.equal(ago("2026-06-03", NOW), "12 days ago");
});

test("nothing is said of what lies ahead or is no date", () => {
  assert.equal(ago("2026-06-15T12:00:01Z", NOW), "");
  assert.equal(ago("2026-06-16", NOW), "");
  assert.equal(ago("soon", NOW), "");
});

test("the system's own theme is not remembered", () => {
  assert.equal(otherTheme("light", "light"), "dark");
  assert.equal(otherTheme("dark", "light"), null);
  assert.equal(otherTheme("dark", "dark"), "light");
  assert.equal(otherTheme("light", "dark"), null);
});

test("nothing is new on a first visit", () => {
  const found = plain(visit(null, ["b", "a"], NOW));
  assert.deepEqual(found, { visits: { before: ["b", "a"], seen: ["b", "a"], at: NOW }, fresh: [] });
});

test("what came since the last visit stays new while this visit lasts", () => {
  const last = { before: ["a"], seen: ["b", "a"], at: NOW - 2 * HOUR };
  const first = plain(visit(last, ["c", "b", "a"], NOW));
  assert.deepEqual(first.fresh, ["c"]);
  const reloaded = plain(visit(first.visits, ["d", "c", "b", "a"], NOW + HOUR / 4));
  assert.deepEqual(reloaded.fresh, ["d", "c"]);
  assert.deepEqual(plain(visit(reloaded.visits, ["d", "c", "b", "a"], NOW + 3 * HOUR)).fresh, []);
});

test("a row that moved up from beyond the end of the list is not new", () => {
  const last = { before: [], seen: ["c", "b"], at: NOW - HOUR };
  assert.deepEqual(plain(visit(last, ["d", "b", "a"], NOW).fresh), ["d"]);
});

test("all is new when nothing is known any more", () => {
  const last = { before: [], seen: ["b", "a"], at: NOW - HOUR };
  assert.deepEqual(plain(visit(last, ["d", "c"], NOW).fresh), ["d", "c"]);
});

test("cells are sorted as numbers, else as words, and empty ones stay last", () => {
  assert.deepEqual(plain(order(["10 since 2026-05-01", "", "9", "1,200"], false)), [2, 0, 3, 1]);
  assert.deepEqual(plain(order(["10 since 2026-05-01", "", "9", "1,200"], true)), [3, 0, 2, 1]);
  assert.deepEqual(plain(order(["2026-05-12", "2026-04-22", ""], true)), [0, 1, 2]);
  assert.deepEqual(plain(order(["web", "Archivist", "desk"], false)), [1, 2, 0]);
});

test("equal cells keep their order", () => {
  assert.deepEqual(plain(order(["1", "2", "1"], true)), [1, 0, 2]);
});

test("the next stop counts from the focus, else from where the reader is", () => {
  assert.equal(nextStop([0, 300, 600], 0, 1), 1);
  assert.equal(nextStop([0, 300, 600], 2, 1), -1);
  assert.equal(nextStop([0, 300, 600], 0, -1), -1);
  assert.equal(nextStop([-500, 10, 600], -1, 1), 2);
  assert.equal(nextStop([-500, -100, 600], -1, -1), 1);
});

test("the line of a build warns when it is old or failed", () => {
  const built = "2026-06-15T11:00:00Z";
  assert.deepEqual(plain(ageLine({ built, outcome: "ok" }, NOW)), {
    text: "Built 2026-06-15 11:00 UTC · 1 hour ago",
    isOld: false,
  });
  assert.ok(ageLine({ built, outcome: "ok" }, NOW + 72 * HOUR).isOld);
  assert.match(ageLine({ built, outcome: "failed" }, NOW).text, /did not succeed/);
  assert.equal(ageLine({}, NOW).text, "");
});

test("a turn is on the last part that begins with it or before it", () => {
  const parts = [1, 9, 21].map((turn) => ({ turn, isListed: true }));
  const found = (anchor) => partOf(anchor, parts, 0);
  assert.deepEqual(["t1", "t8", "t9", "t20", "t21", "t999"].map(found), [0, 0, 1, 1, 2, 2]);
  assert.deepEqual(["t10-p-1a2b3c4d", "t10.2-why"].map(found), [1, 1]);
  assert.deepEqual(["t-1a2b3c4d", "newest", "tides", "t", ""].map(found), [-1, -1, -1, -1, -1]);
  assert.equal(partOf("t9", [], -1), -1);
});

test("passages of a turn are sought on the parts that begin within it, and no further", () => {
  const parts = [[1], [4], [5, 4], [5, 4], [9]].map(([turn, within]) => ({ turn, within, isListed: true }));
  const found = (anchor) => [0, 1, 2, 3, 4].map((here) => partOf(anchor, parts, here));
  assert.deepEqual(found("t4-p-1a2b3c4d"), [1, 2, 3, 3, 1]);
  assert.deepEqual(found("t4"), [1, 1, 1, 1, 1]);
  assert.deepEqual(found("t5"), [3, 3, 3, 3, 3]);
});

test("a hash that the outline does not name is sought on one part after the other", () => {
  const parts = [true, true, false, false].map((isListed, index) => ({ turn: 9 * index + 1, isListed }));
  assert.deepEqual([0, 1, 2, 3].map((here) => partOf("t-1a2b3c4d-2", parts, here)), [2, 2, 3, -1]);
});

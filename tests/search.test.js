// The browser's searcher in node: the same table of cases as Python's.

"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const test = require("node:test");

require("../static/search.js");
const { QueryError, compare, formsOf, keyword, parse, prepare, words } = globalThis.memositeSearch;
const cases = JSON.parse(fs.readFileSync(path.join(__dirname, "search_cases.json"), "utf8"));

test("texts have the words that the table says", () => {
  for (const { text, words: expected } of cases.words) {
    const found = words(prepare(text)).map((word) => [word.term, word.position, ...(word.part ? ["part"] : [])]);
    assert.deepEqual(found, expected, text);
  }
});

test("names are the terms that the table says", () => {
  for (const { text, keyword: expected } of cases.keywords) assert.equal(keyword(text), expected, text);
});

test("words have the plain plurals that the table says", () => {
  for (const { term, forms } of cases.forms) assert.deepEqual(formsOf(term), forms, term);
});

test("queries are understood or refused as the table says", () => {
  for (const { query, tree, error } of cases.queries) {
    try {
      assert.deepEqual(parse(query), tree, query);
    } catch (found) {
      if (!(found instanceof QueryError)) throw found;
      const position = Array.from(query.slice(0, found.position)).length;
      assert.deepEqual([found.message, position, found.example], error, query);
    }
  }
});

test("strings are compared by character, not by code unit", () => {
  assert.ok(compare("\u{10400}", "\uff21") > 0);
  assert.ok(compare("a", "ab") < 0);
  assert.equal(compare("鐘楼", "鐘楼"), 0);
});

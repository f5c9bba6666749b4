// Parses texts as the browser would: reads an array of them as JSON from standard input, and writes what each is as a
// query (its tree, or its error with the place in characters), as words with their places, and as a name.

"use strict";

const fs = require("node:fs");

require("../static/search.js");
const { QueryError, keyword, parse, prepare, words } = globalThis.memositeSearch;

/** @param {string} text */
function query(text) {
  try {
    return { tree: parse(text) };
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    return { error: [error.message, Array.from(text.slice(0, error.position)).length, error.example] };
  }
}

/** @param {string} text */
function described(text) {
  const prepared = prepare(text);
  const found = words(prepared).map((word) => [
    word.term,
    word.position,
    Array.from(prepared.slice(0, word.start)).length,
    Array.from(prepared.slice(0, word.end)).length,
    word.part,
  ]);
  return { query: query(text), words: found, keyword: keyword(text) };
}

process.stdout.write(JSON.stringify(JSON.parse(fs.readFileSync(0, "utf8")).map(described)));

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

/**
 * For each index into a string, and its length, how many code points stand before it.
 * @param {string} text
 */
function placesOf(text) {
  /** @type {number[]} */
  const places = [];
  let count = 0;
  for (const char of text) {
    for (let unit = 0; unit < char.length; unit += 1) places.push(count + unit);
    count += 1;
  }
  return [...places, count];
}

/** @param {string} text */
function described(text) {
  const prepared = prepare(text);
  const places = placesOf(prepared);
  const found = words(prepared).map((word) => [
    word.term,
    word.position,
    places[word.start],
    places[word.end],
    word.part,
  ]);
  return { query: query(text), words: found, keyword: keyword(text) };
}

process.stdout.write(JSON.stringify(JSON.parse(fs.readFileSync(0, "utf8")).map(described)));

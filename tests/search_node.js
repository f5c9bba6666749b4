// Answers queries from the blocks in a folder, as the browser would: reads {folder, limit, queries, whole} as JSON from
// standard input, writes for each query its hits, facets, and the bytes of the files that it had to load.

"use strict";

const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

require("../static/search.js");
const { QueryError, Searcher } = globalThis.memositeSearch;

/** Loads files as script tags do, or, unless `whole`, of files of pieces the bytes of one, as a server sends them.
 *  @param {string} folder @param {{bytes: number, files: number}} moved @param {boolean} whole */
function loader(folder, moved, whole) {
  /** @type {Map<string, any>} */
  const called = new Map();
  const loaded = new Set();
  return async (/** @type {string} */ name, /** @type {{file: string, start: number, size: number} | undefined} */ lines) => {
    const file = lines ? lines.file : name;
    if (!loaded.has(file)) {
      const source = fs.readFileSync(path.join(folder, `${file}.js`));
      const sent = lines && !whole ? source.subarray(lines.start, lines.start + lines.size) : source;
      moved.bytes += sent.length;
      moved.files += 1;
      if (sent === source) loaded.add(file);
      vm.runInNewContext(sent.toString(), { memositeBlock: (/** @type {string} */ n, /** @type {any} */ value) => called.set(n, value) });
    }
    if (!called.has(name)) throw new Error(`${file}.js does not hold ${name}`);
    return called.get(name);
  };
}

async function main() {
  const { folder, limit, queries, whole } = JSON.parse(fs.readFileSync(0, "utf8"));
  const shared = new Searcher(loader(folder, { bytes: 0, files: 0 }, whole));
  const answers = [];
  for (const query of queries) {
    const moved = { bytes: 0, files: 0 };
    const searcher = limit < 100 ? new Searcher(loader(folder, moved, whole)) : shared;
    try {
      const { total, items, hits, facets } = await searcher.find(query, limit);
      const counted = await facets();
      const start = performance.now();
      await searcher.find(query, limit);
      const again = performance.now() - start;
      answers.push({ total, items, hits: hits.map(({ row, anchor }) => [row[0], row[1], row[2], row[8] + (anchor ? `#${anchor}` : "")]),
        excerpts: hits.map(({ excerpt }) => excerpt), rows: hits.map(({ row }) => row), facets: counted, ...moved, again });
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      answers.push({ error: error.message });
    }
  }
  process.stdout.write(JSON.stringify(answers));
}

main();

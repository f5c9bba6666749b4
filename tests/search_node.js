// Answers queries from the blocks in a folder, as the browser would: reads {folder, limit, queries} as JSON from
// standard input, writes for each query its hits, facets, and the bytes of the files that it had to load.

"use strict";

const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

require("../static/search.js");
const { QueryError, Searcher } = globalThis.memositeSearch;

/** @param {string} folder @param {{bytes: number, files: number}} moved */
function loader(folder, moved) {
  return async (/** @type {string} */ name) => {
    const source = fs.readFileSync(path.join(folder, `${name}.js`), "utf8");
    moved.bytes += Buffer.byteLength(source);
    moved.files += 1;
    /** @type {{name: string, value: any} | null} */
    let found = null;
    vm.runInNewContext(source, { memositeBlock: (/** @type {string} */ n, /** @type {any} */ value) => (found = { name: n, value }) });
    if (found === null || /** @type {any} */ (found).name !== name) throw new Error(`${name}.js is not ${name}`);
    return /** @type {any} */ (found).value;
  };
}

async function main() {
  const { folder, limit, queries } = JSON.parse(fs.readFileSync(0, "utf8"));
  const shared = new Searcher(loader(folder, { bytes: 0, files: 0 }));
  const answers = [];
  for (const query of queries) {
    const moved = { bytes: 0, files: 0 };
    const searcher = limit < 100 ? new Searcher(loader(folder, moved)) : shared;
    try {
      const { total, hits, facets } = await searcher.find(query, limit);
      const counted = await facets();
      const start = performance.now();
      await searcher.find(query, limit);
      const again = performance.now() - start;
      answers.push({ total, hits: hits.map(({ row, anchor }) => [row[0], row[1], row[2], row[8] + (anchor ? `#${anchor}` : "")]),
        excerpts: hits.map(({ excerpt }) => excerpt), rows: hits.map(({ row }) => row), facets: counted, ...moved, again });
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      answers.push({ error: error.message });
    }
  }
  process.stdout.write(JSON.stringify(answers));
}

main();

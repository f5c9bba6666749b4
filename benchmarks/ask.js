// Asks queries of a search for browsers, each of a fresh one, and tells what each moved and how long it took:
// reads {tool, folder, client, limit, queries, whole} as JSON from standard input; folder holds the published files.
// "first" opens the search and answers, "again" only answers; files come from disk, so both are without a network.

"use strict";

const fs = require("node:fs");
const path = require("node:path");
const { pathToFileURL } = require("node:url");

/** Reads a published file, or some bytes of it, and counts what it moves. */
function reader(folder, moved) {
  return (name, start = 0, size = Infinity) => {
    const data = fs.readFileSync(path.join(folder, name)).subarray(start, start + size);
    moved.bytes += data.length;
    moved.requests += 1;
    return data;
  };
}

/** memosite: static/search.js, with pieces of files as a server sends them; `whole`: with files, as from disk. */
function memosite({ folder, client, limit, whole }) {
  require(client);
  return async (read) => {
    const called = new Map();
    const run = (data) => new Function("memositeBlock", data.toString())(called.set.bind(called));
    const files = new Set();
    const load = async (name, lines) => {
      if (lines && !whole) run(read(`${lines.file}.js`, lines.start, lines.size));
      else if (!files.has(lines?.file ?? name)) {
        files.add(lines?.file ?? name);
        run(read(`${lines?.file ?? name}.js`));
      }
      return called.get(name);
    };
    const searcher = new globalThis.memositeSearch.Searcher(load);
    return async (query) => {
      const { total, hits } = await searcher.find(query, limit);
      return { total, shown: hits.length };
    };
  };
}

/** Pagefind: its client as a module of its own for each query, for it keeps what it loaded; its program not counted. */
function pagefind({ folder, client, limit }) {
  let number = 0;
  return async (read) => {
    const base = pathToFileURL(folder + path.sep).href;
    globalThis.fetch = async (url) => {
      const name = decodeURIComponent(String(url).slice(base.length).replace(/[?].*/, ""));
      const data = name.startsWith("wasm.") ? fs.readFileSync(path.join(folder, name)) : read(name);
      return new Response(data);
    };
    const search = await import(`${pathToFileURL(client).href}?${number++}`);
    await search.options({ basePath: base });
    await search.init();
    return async (query) => {
      const { results } = await search.search(query);
      const shown = await Promise.all(results.slice(0, limit).map((result) => result.data()));
      return { total: results.length, shown: shown.length };
    };
  };
}

async function main() {
  const asked = JSON.parse(fs.readFileSync(0, "utf8"));
  const open = { memosite, pagefind }[asked.tool](asked);
  const answers = [];
  for (const query of asked.queries) {
    const moved = { bytes: 0, requests: 0 };
    const start = performance.now();
    const ask = await open(reader(asked.folder, moved));
    const answer = await ask(query);
    const first = performance.now() - start;
    const middle = performance.now();
    const counted = { ...moved };
    await ask(query);
    answers.push({ query, ...answer, ...counted, first, again: performance.now() - middle });
  }
  process.stdout.write(JSON.stringify(answers));
}

main();

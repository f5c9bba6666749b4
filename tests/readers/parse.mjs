// Prints the items of the feed at an address as JSON, as rss-parser reads them.
import Parser from "rss-parser";

const parser = new Parser({ customFields: { item: [["memo:path", "path"]] } });
const feed = await parser.parseURL(process.argv[2]);
const items = feed.items.map((item) => ({ guid: item.guid, path: item.path, line: item.content, title: item.title }));
console.log(JSON.stringify(items));

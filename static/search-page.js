// The search page: what is typed becomes an address, and the address an answer.
//
//     typing, facets, back and forward ─► the query in the URL ─► show() ─► the newest answer, never an older one

"use strict";

(() => {
  /** @typedef {Awaited<ReturnType<InstanceType<typeof memositeSearch.Searcher>["find"]>>} Answer */
  const { Searcher, QueryError, FIELDS, noFields, peopleIn, edits, keyword, orderOf } = memositeSearch;
  const STEP = 10;
  const PAUSE = 150;
  const FACET_VALUES = 12;
  /** @type {[string, string, (value: string) => string][]} */
  const FACETS = [
    ["kind", _("Kind"), (value) => `kind:${value}`],
    ["system", _("System"), (value) => `system:${value}`],
    ["position", _("Position"), (value) => `with:${/[\s()"]/.test(value) ? `"${value.replaceAll('"', "")}"` : value}`],
    ["year", _("Year"), (value) => `sent:${value}`],
  ];

  /** @template {Element} T @param {string} id @param {new () => T} type @returns {T} */
  function element(id, type) {
    const found = document.getElementById(id);
    if (!(found instanceof type)) throw new Error(`the search page has no ${id}`);
    return found;
  }

  const form = element("_search", HTMLFormElement);
  const input = element("_query", HTMLInputElement);
  const status = element("_status", HTMLElement);
  const article = element("_main", HTMLElement);
  const facets = element("_facets", HTMLElement);
  const list = element("_hits", HTMLElement);
  const more = element("_more", HTMLButtonElement);
  const order = element("_order", HTMLSelectElement);
  const why = element("_why", HTMLElement);

  // Blocks: pieces of files from a server that sends parts; else, and from disk, whole files by script tags.

  /** @type {Map<string, any>} */
  const called = new Map(); // what files that were loaded as scripts hold
  /** @type {Map<string, Promise<unknown>>} */
  const scripts = new Map();
  Object.assign(globalThis, { memositeBlock: called.set.bind(called) });
  /** @type {Promise<boolean> | null} */
  let sendsParts = location.protocol === "file:" ? Promise.resolve(false) : null;
  let fresh = "";
  let searcher = new Searcher(load);

  /** @param {string} name @param {Lines} [lines] @returns {Promise<any>} */
  async function load(name, lines) {
    const part = lines && (await loadPart(name, lines));
    if (part !== undefined) return part;
    await runScript(lines ? lines.file : name);
    if (!called.has(name)) throw new Error(`${name} is of another build`);
    return called.get(name);
  }

  /** A piece alone; the first answer tells whether the server sends parts. @param {string} name @param {Lines} lines */
  async function loadPart(name, { file, start, size }) {
    if (sendsParts && !(await sendsParts)) return undefined;
    const asking = fetch(`${file}.js${fresh}`, { headers: { Range: `bytes=${start}-${start + size - 1}` } }).catch(() => null);
    sendsParts ??= asking.then((answer) => answer?.status === 206);
    const answer = await asking;
    if (answer?.status !== 206) return void answer?.body?.cancel();
    const [text, before] = [await answer.text(), `memositeBlock("${name}",`];
    return text.startsWith(before) ? JSON.parse(text.slice(before.length, -2)) : undefined;
  }

  /** @param {string} file */
  function runScript(file) {
    const found = scripts.get(file) ?? new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = `${file}.js${fresh}`;
      script.onload = resolve;
      script.onerror = reject;
      document.head.append(script);
    });
    scripts.set(file, found);
    found.catch(() => scripts.delete(file));
    return found;
  }

  /** Forget what was loaded: files of different builds were in a cache, or the site was published meanwhile. */
  function startAgain() {
    fresh = `?${Date.now()}`;
    called.clear();
    scripts.clear();
    searcher = new Searcher(load);
  }

  let asked = 0;
  let limit = STEP;
  let chosen = ""; // the order, where it is not left to the query
  let isTyped = false; // the last word may go on: nobody has entered it yet

  // The address

  function readAddress() {
    const inSearch = new URLSearchParams(location.search).getAll("q"); // the box of a transcript sends its field apart
    return inSearch.length ? inSearch.join(" ") : new URLSearchParams(location.hash.slice(1)).get("q") ?? "";
  }

  /** @param {string} query */
  const addressOf = (query) =>
    query ? `?${new URLSearchParams({ q: query, ...(chosen ? { order: chosen } : {}) })}` : location.pathname;

  /** @param {string} query @param {"push" | "replace"} how */
  function setAddress(query, how) {
    if (query === readAddress()) return;
    if (how === "push") history.pushState(null, "", addressOf(query));
    else history.replaceState(null, "", addressOf(query));
  }

  // Answers

  /** The word at the end of a query that may go on: in the text, outside quotes. @param {string} query */
  function lastWord(query) {
    const found = /(?:^|[\s(])([\p{L}\p{N}]{3,})$/u.exec(query)?.[1] ?? "";
    return ["AND", "NOT"].includes(found) || (query.match(/"/g) ?? []).length % 2 ? "" : found;
  }

  /** @param {string} query @param {boolean} [isSecond] */
  async function show(query, isSecond = false) {
    const turn = ++asked;
    if (!query.trim()) {
      clear("");
      return;
    }
    try {
      order.value = chosen || orderOf(query);
      const how = order.value === "best" ? "best" : "newest";
      const last = lastWord(query);
      const [whole, begun] = await Promise.all([
        last && isTyped ? null : searcher.find(query, limit, how, true),
        last ? searcher.find(`${query}*`, limit, how, true) : null,
      ]);
      if (turn !== asked) return;
      const isBegun = begun !== null && begun.total > 0 && !whole?.total; // entered, it shows no less than while it was typed
      const answer = /** @type {Answer} */ (isBegun || !whole ? begun : whole);
      showHits(answer.hits);
      const { total, items } = answer;
      if (!total) order.value = chosen || "newest";
      why.hidden = Boolean(chosen) || order.value !== "best";
      status.className = "";
      const number = total.toLocaleString(_("en"));
      status.textContent = total ? _n(total, `${number} result`, `${number} results`) : _("No results.");
      if (items < total) { // each turn of a transcript is a result
        const things = items.toLocaleString(_("en"));
        status.textContent = _n(items, `${number} results in ${things} item`, `${number} results in ${things} items`);
      }
      if (isBegun) status.append(_(`, with words that begin with “${last}”`));
      else if (begun && begun.total > total) status.append(". ", longer(query, last, begun.total - total));
      if (answer.countedFrom !== null) {
        const day = new Date(answer.countedFrom).toISOString().slice(0, 10);
        status.append(". ", _(`Counted back from ${day}, the newest date of the archive.`));
      }
      more.hidden = answer.hits.length >= answer.listed;
      if (!total) void suggest(query, () => turn === asked);
      const counted = await answer.facets();
      if (turn === asked) showFacets(counted, query);
    } catch (error) {
      if (turn !== asked) return;
      if (error instanceof QueryError) {
        clear(`${error.message}\n${query}\n${" ".repeat(error.position)}^\nFor example: ${error.example}`);
        status.className = "fault";
        if (/\bkind:"?decision/i.test(query)) status.append("\n", linkTo(_("Decisions"), "../decisions/index.html"));
      } else if (!isSecond) {
        startAgain();
        await show(query, true);
      } else {
        clear(_("Search files did not load. Check that the whole site was copied."));
      }
    }
  }

  /** @param {string} text */
  function clear(text) {
    status.className = "";
    status.textContent = text;
    list.replaceChildren();
    facets.replaceChildren();
    more.hidden = why.hidden = true;
  }

  /** @param {string} name @param {string} [text] @param {string} [className] */
  function make(name, text = "", className = "") {
    const made = document.createElement(name);
    if (text) made.textContent = text;
    if (className) made.className = className;
    return made;
  }

  /** Hits of one transcript or thread together, where the first of them is; a turn in two captures of a session once.
   *  @param {any[]} hits @returns {any[][]} */
  function grouped(hits) {
    const groups = new Map();
    for (const hit of hits) {
      const [kind, id, , tools] = hit.row;
      const others = groups.get(hit.group) ?? groups.set(hit.group, []).get(hit.group);
      const pieces = hit.excerpt.map((/** @type {[string, boolean]} */ [piece]) => piece);
      const said = [tools, ...pieces].join("");
      const isSeen = kind === "transcript" && others.some((/** @type {any} */ other) => other.row[1] !== id && other.said === said);
      if (!isSeen) others.push({ ...hit, said });
    }
    return [...groups.values()];
  }

  /** The address of a hit: its passage, and its words, which the browser marks there. @param {any} hit */
  function addressOfHit({ row, anchor, words }) {
    const [page, usual = ""] = row[8].split("#");
    const said = words && `:~:text=${encodeURIComponent(words).replaceAll("-", "%2D")}`;
    return `../${page.split("/").map(encodeURIComponent).join("/")}${anchor || usual || said ? `#${anchor || usual}${said}` : ""}`;
  }

  /** @param {any} hit */
  function hitOf(hit) {
    const [kind, , , , , label, who, day] = hit.row;
    const link = make("a", "", "subject");
    for (const [piece, isMarked] of hit.subject) link.append(isMarked ? make("mark", piece) : piece);
    link.setAttribute("href", addressOfHit(hit));
    link.setAttribute("dir", "auto");
    const first = make("p");
    first.append(link);
    const facts = [day || _("no date"), kind, who, label].filter(Boolean).join(" · ");
    const text = make("p");
    text.setAttribute("dir", "auto");
    for (const [piece, isMarked] of hit.excerpt) text.append(isMarked ? make("mark", piece) : piece);
    return [first, make("p", facts, "facts"), text];
  }

  /** @param {any[]} hits */
  function showHits(hits) {
    list.replaceChildren(
      ...grouped(hits).map(([hit, ...others]) => {
        const item = make("li");
        item.append(...hitOf(hit));
        const { length } = others;
        if (length) {
          const more = make("details");
          const inside = make("ol", "", "hits");
          inside.append(...others.map((other) => { const one = make("li"); one.append(...hitOf(other)); return one; }));
          const isOf = hit.row[0] === "transcript";
          const said = isOf ? _(`${length} more in this transcript`) : _(`${length} more in this thread`);
          more.append(make("summary", said), inside);
          item.append(more);
        }
        return item;
      }),
    );
  }

  /** @param {string} words @param {string} address */
  function linkTo(words, address) {
    const link = make("a", words);
    link.setAttribute("href", address);
    return link;
  }

  /** How much more is found where the last word is only the beginning of one. @param {string} query
   *  @param {string} last @param {number} more */
  function longer(query, last, more) {
    const number = more.toLocaleString(_("en"));
    const said = make("span", _n(more, `${number} more with longer words:`, `${number} more with longer words:`));
    const link = make("a", `${last}*`);
    link.setAttribute("href", addressOf(`${query}*`));
    said.append(" ", link);
    return said;
  }

  /** What else to ask for where nothing was found: the output of tools, similar words, or all words but one.
   *  @param {string} query @param {() => boolean} isCurrent */
  async function suggest(query, isCurrent) {
    let said = query;
    for (const [written, instead] of await searcher.similar(query)) {
      said = said.replace(new RegExp(`(?<![\\p{L}\\p{N}])${written}(?![\\p{L}\\p{N}])`, "iu"), instead);
    }
    const words = query.split(/\s+/).filter(Boolean);
    const fewer = words.length > 1 && words.length < 8 && !/["()[\]]|\b(?:OR|NOT|AND)\b/.test(query)
      ? words.map((_, i) => words.filter((__, j) => j !== i).join(" ")) : [];
    const inTools = /(?<![\p{L}\p{N}])in:/iu.test(query) ? [] : [`in:tools ${/\bOR\b/.test(query) ? `(${query})` : query}`];
    const links = [];
    for (const one of new Set([...inTools, ...(said === query ? [] : [said]), ...fewer])) {
      const { total } = await searcher.find(one, 1).catch(() => ({ total: 0 })); // words alike may be no query: `for:` of `foo:`
      if (!total) continue;
      const link = make("a", one);
      link.setAttribute("href", addressOf(one));
      links.push(link, ` (${total.toLocaleString("en")}) `);
    }
    const why = await whyNothing(query);
    if (!links.length && !why.length) why.push(_("Try a shorter word, or how it begins, such as barc*; How to search has all filters."));
    if (!isCurrent()) return;
    status.replaceChildren(_("No results."), " ", ...why, ...(links.length ? [" ", _("Try"), " ", ...links] : []));
  }

  /** What a query asks for that is not there: filters, and people. @param {string} query
   *  @returns {Promise<(string | HTMLElement)[]>} */
  async function whyNothing(query) {
    /** @type {(string | HTMLElement)[]} */
    const said = [];
    const filters = FIELDS.map((name) => `${name}:`).join(", ");
    for (const name of noFields(query)) said.push(_(`There is no filter ${name}:, so it was searched as text; filters are ${filters}.`), " ");
    for (const name of new Set(peopleIn(query))) {
      if ((await searcher.find(`with:"${name}"`, 1)).total) continue;
      said.push(_(`Nobody in the archive is called ${name}.`), " ");
      const every = await searcher.find("kind:memo OR kind:note OR kind:transcript OR kind:record OR kind:document", 1);
      const { position = [] } = await every.facets();
      const near = position.map(([one]) => one).filter((one) => {
        const other = keyword(one);
        return other.includes(name) || edits(name, other) <= Math.max(1, Math.floor(name.length / 3));
      });
      for (const one of near.slice(0, 3)) said.push(linkTo(`with:${one}`, addressOf(`with:${/[\s()"]/.test(one) ? `"${one}"` : one}`)), " ");
      said.push(linkTo(_("All positions"), "../org/index.html"));
    }
    return said;
  }

  /** @param {Record<string, [string, number][]>} counted @param {string} query */
  function showFacets(counted, query) {
    const sections = FACETS.flatMap(([name, heading, condition]) => {
      const values = counted[name] ?? [];
      if (!values.length) return [];
      const items = values.slice(0, FACET_VALUES).map(([value, count]) => {
        const item = make("li");
        const link = make("a", value);
        const has = ` ${query} `.includes(` ${condition(value)} `);
        link.setAttribute("href", addressOf(has ? without(query, condition(value)) : withCondition(query, condition(value))));
        if (has) link.setAttribute("aria-current", "true");
        item.append(link, " ", make("span", count.toLocaleString(_("en")), "facts"));
        return item;
      });
      const values_ = make("ul", "", "scroll");
      values_.append(...items);
      return [make("h2", heading), values_];
    });
    facets.replaceChildren(...sections);
  }

  /** @param {string} query @param {string} condition */
  const withCondition = (query, condition) => `${/\bOR\b/.test(query) ? `(${query.trim()})` : query.trim()} ${condition}`;

  /** @param {string} query @param {string} condition */
  const without = (query, condition) => ` ${query} `.replace(` ${condition} `, " ").trim();

  // Events

  let timer = 0;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      limit = STEP;
      isTyped = true;
      setAddress(input.value, "replace");
      show(input.value);
    }, PAUSE);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    limit = STEP;
    isTyped = false;
    history.pushState(null, "", addressOf(input.value));
    show(input.value);
  });
  order.addEventListener("change", () => {
    chosen = order.value;
    limit = STEP;
    history.replaceState(null, "", addressOf(input.value));
    show(input.value);
  });
  article.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest('a[href^="?"]') : null;
    if (!(link instanceof HTMLAnchorElement) || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    input.value = new URLSearchParams(link.search).get("q") ?? "";
    limit = STEP;
    isTyped = false;
    setAddress(input.value, "push");
    show(input.value);
  });
  more.addEventListener("click", () => {
    limit += STEP;
    show(input.value);
  });
  const fromAddress = () => {
    const named = new URLSearchParams(location.search).get("order") ?? "";
    chosen = ["best", "newest"].includes(named) ? named : "";
    input.value = readAddress();
    limit = STEP;
    isTyped = false;
    show(input.value);
  };
  window.addEventListener("popstate", fromAddress);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const isTyping = document.activeElement === input;
    if (event.key === "/" && !isTyping) {
      event.preventDefault();
      input.focus();
      input.select();
      return;
    }
    const links = [...list.querySelectorAll("a")];
    const here = links.findIndex((link) => link === document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1, j: isTyping ? 0 : 1, k: isTyping ? 0 : -1 }[event.key] ?? 0;
    if (!step || !links.length || (here < 0 && !isTyping && event.key.startsWith("Arrow"))) return;
    event.preventDefault();
    if (here + step < 0) input.focus();
    else links[Math.min(here + step, links.length - 1)].focus();
  });

  if (readAddress() || !input.value) fromAddress();
  else show(input.value); // typed while the script was on its way
  if (!input.value) focusWhenShown(60);

  /**
   * Puts the cursor into the box. Until the theme is chosen nothing of the page is shown, and what is not shown takes
   * no focus.
   * @param {number} frames how long to go on trying
   */
  function focusWhenShown(frames) {
    input.focus();
    if (document.activeElement !== input && frames > 0) requestAnimationFrame(() => focusWhenShown(frames - 1));
  }
})();

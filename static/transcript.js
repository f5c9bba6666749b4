/* The search box of a transcript: marks the turns of this page that have all words, while they are typed. Enter leads to
   the search page, which looks through all of the transcript. */

"use strict";

(() => {
  const SHOWN = 30;
  const box = /** @type {HTMLInputElement | null} */ (document.getElementById("_within"));
  const form = box?.form;
  if (!box || !form) return;

  /** As the search compares. @param {string} text */
  const folded = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

  /** @type {{turn: HTMLElement, number: number, words: string}[] | undefined} */
  let known;
  const turns = () => known ??= /** @type {HTMLElement[]} */ ([...document.querySelectorAll(".turn[id]")]).map((turn) => {
    const parts = [...turn.children].filter((part) => !part.matches(".cite"));
    return { turn, number: Number(/\d+$/.exec(turn.id)), words: folded(parts.map((part) => part.textContent).join(" ")) };
  });

  const status = /** @type {HTMLElement} */ (form.querySelector("[role=status]"));
  const list = document.createElement("ul");

  /** Marks columns of the strip below it. @param {number[]} numbers */
  function draw(numbers) {
    const strip = /** @type {HTMLElement | null} */ (document.querySelector(".strip"));
    const cells = strip?.querySelector(".grid > svg:last-child");
    if (!strip || !cells) return;
    strip.querySelector(".hits")?.remove();
    if (!numbers.length) return;
    const [, , width] = (cells.getAttribute("viewBox") ?? "").split(" ");
    const columns = new Set(numbers.map((number) => Math.floor((number - 1) / Number(strip.dataset.turns))));
    /** @param {string} name @param {Record<string, string>} values */
    const make = (name, values) => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(values)) element.setAttribute(key, value);
      return element;
    };
    const marks = make("svg", { x: "36%", width: "64%", height: "6", viewBox: `0 0 ${width} 1`, preserveAspectRatio: "none" });
    marks.append(make("path", { d: [...columns].map((column) => `M${column} 0h.9v1h-.9z`).join("") }));
    const line = make("svg", { class: "hits", "aria-hidden": "true", width: "100%", height: "6" });
    line.append(marks);
    strip.querySelector(".grid")?.after(line);
  }

  function mark() {
    const words = folded(box?.value ?? "").split(/\s+/).filter(Boolean);
    const found = words.length ? turns().filter((one) => words.every((word) => one.words.includes(word))) : [];
    for (const { turn } of known ?? []) turn.classList.remove("hit");
    for (const { turn } of found) turn.classList.add("hit");
    const total = found.length;
    const said = total ? _n(total, `${total} turn on this page`, `${total} turns on this page`) : _("No turns on this page");
    status.textContent = words.length ? said + (total > SHOWN ? _(`, the first ${SHOWN}`) : "") : "";
    list.replaceChildren(...found.slice(0, SHOWN).map(({ turn, number }) => {
      const link = document.createElement("a");
      link.href = `#${turn.id}`;
      link.textContent = `t${number}`;
      const item = document.createElement("li");
      item.append(link);
      return item;
    }));
    found.length ? form?.append(list) : list.remove();
    draw(found.map(({ number }) => number));
  }

  let timer = 0;
  box.addEventListener("input", () => {
    clearTimeout(timer);
    timer = window.setTimeout(mark, 150);
  });
  if (box.value) mark(); // the browser kept it
})();

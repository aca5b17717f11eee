// The menu of examples: a button, a list, arrow keys, Escape.

import { element } from "./answer.js";
import { svg } from "./plots.js";

export class Menu {
  #button;
  #list;
  #choose;
  #look;
  #pictures = null;

  /** `choose(name)`; `look()` asks for pictures, once the list is opened and until `picture` has them all. */
  constructor(button, list, choose, look) {
    this.#button = button;
    this.#list = list;
    this.#choose = choose;
    this.#look = look;
    button.addEventListener("click", () => (list.hidden ? this.open() : this.#close()));
    button.addEventListener("keydown", (e) => { if (e.key === "ArrowDown") { e.preventDefault(); this.open(); } });
    list.addEventListener("keydown", (e) => this.#key(e));
    document.addEventListener("pointerdown", (e) => {
      if (!list.hidden && !list.contains(e.target) && !button.contains(e.target)) this.#close();
    });
    list.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget && !list.contains(relatedTarget) && relatedTarget !== button) this.#close();
    });
  }

  /** Items {name, title, group?}; a change of group makes a heading. */
  fill(items) {
    let group = null;
    const rows = [];
    for (const { name, title, group: of } of items) {
      if (of && of !== group) rows.push(element("h3", { role: "presentation" }, of));
      group = of ?? group;
      const about = { type: "button", role: "menuitem", tabindex: "-1", "data-name": name };
      const row = element("button", about, thumbnail(this.#pictures?.[name]), title ?? name);
      row.addEventListener("click", () => { this.#close(); this.#button.focus(); this.#choose(name); });
      rows.push(row);
    }
    this.#list.replaceChildren(...rows);
    this.#button.disabled = !items.length;
  }

  /** Lines by name. */
  picture(pictures) {
    this.#pictures = pictures;
    for (const row of this.#rows()) row.firstChild.replaceWith(thumbnail(pictures[row.dataset.name]));
  }

  open() {
    if (this.#rows().some((row) => !this.#pictures?.[row.dataset.name])) this.#look();
    this.#list.hidden = false;
    this.#button.setAttribute("aria-expanded", "true");
    this.#rows()[0]?.focus();
  }

  #close() {
    this.#list.hidden = true;
    this.#button.setAttribute("aria-expanded", "false");
  }

  #rows() { return [...this.#list.querySelectorAll("button")]; }

  #key(event) {
    const rows = this.#rows();
    const here = rows.indexOf(document.activeElement);
    const last = rows.length - 1;
    const to = { ArrowDown: here === last ? 0 : here + 1, ArrowUp: here <= 0 ? last : here - 1, Home: 0, End: last }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      rows[to].focus();
    } else if (event.key === "Escape") {
      event.stopPropagation();
      this.#close();
      this.#button.focus();
    } else if (event.key === "Tab") {
      this.#close();
    }
  }
}

/** Some lines [x, y, x, y...] in a square of 100 as a small picture. */
function thumbnail(lines) {
  const sane = (Array.isArray(lines) ? lines : []).filter((line) => Array.isArray(line) && line.every(Number.isFinite));
  const parts = sane.map((line) => svg("polyline", { points: line.join(" "), fill: "none", stroke: "currentColor", "stroke-width": 4.5 }));
  const ends = sane.map((line) => svg("circle", { cx: line.at(-2), cy: line.at(-1), r: 6, fill: "currentColor" }));
  return svg("svg", { viewBox: "-8 -8 116 116", width: 34, height: 34, "aria-hidden": "true", class: "thumb" }, ...parts, ...ends);
}

// What the method is told: order or none, paths or the paper's kernel with its three parameters.

import { hint } from "./notify.js";

const $ = (id) => document.getElementById(id);

// sigma is a length of unknown scale and eps reaches down to almost nothing: both move by ratio. theta_r is an angle.
const SLIDERS = {
  sigma: { low: (start) => start / 20, high: (start) => start * 20, log: true },
  theta_r: { low: () => 0.02, high: () => Math.PI / 2, log: false },
  eps: { low: () => 1e-4, high: () => 0.99, log: true },
};

const WORDS = {
  "known paths": "Each stroke is one path in time; strokes that end together share a goal.",
  "unordered paths": "Only positions and velocities are used, shuffled. The paths are found again from the samples.",
  "known kernel": "Samples are linked when the kernel says so. Move the sliders: few settings give the right number.",
  "unordered kernel": "Samples are linked when the kernel says so, their order unused. Move the sliders and see.",
};

const BRUSHED = "Samples are read without order: the flow that they show carries each of them to its fate.";
const BRUSH = "A brush leaves samples: places, and how fast and where to your hand went. Their order is never used; each shows its fate.";

export class Settings extends EventTarget {
  options = { order: "known", graph: "paths", sigma: null, theta_r: null, eps: null };
  /** Whether the pen leaves samples instead of lines. */
  brush = false;
  #start = {};
  #choose = {};

  constructor(kept) {
    super();
    if (kept?.order === "unordered") this.options.order = "unordered";
    if (kept?.graph === "kernel") this.options.graph = "kernel";
    for (const name of Object.keys(SLIDERS)) {
      if (Number.isFinite(kept?.[name]) && kept[name] > 0) this.options[name] = kept[name];
    }
    for (const name of ["order", "graph"]) {
      this.#choose[name] = segments($(name), this.options[name], (value) => this.#change({ [name]: value }));
    }
    this.#choose.pen = segments($("pen"), "strokes", (value) => this.useBrush(value === "samples"));
    for (const name of Object.keys(SLIDERS)) {
      $(name).addEventListener("input", () => this.#change({ [name]: round(this.#value(name, $(name).value / 1000)) }, true));
      $(`${name}-number`).addEventListener("change", ({ target }) => {
        const value = Number(target.value);
        if (target.value !== "" && value > 0 && Number.isFinite(value)) this.#change({ [name]: value });
        else this.#show();
      });
    }
    $("kernel-reset").addEventListener("click", () => this.#change({ sigma: null, theta_r: null, eps: null }));
    this.#show();
  }

  useBrush(on) {
    this.brush = on;
    this.#choose.pen(on ? "samples" : "strokes");
    this.#show();
    hint(on ? BRUSH : "", 7000);
  }

  /** What was saved with a drawing; nobody is told, its strokes come next. */
  set(options) {
    const sane = (name) => (Number.isFinite(options[name]) && options[name] > 0 ? options[name] : null);
    this.options = {
      order: options.order === "unordered" ? "unordered" : "known", graph: options.graph === "kernel" ? "kernel" : "paths",
      ...Object.fromEntries(Object.keys(SLIDERS).map((name) => [name, sane(name)])),
    };
    for (const name of ["order", "graph"]) this.#choose[name](this.options[name]);
    this.#show();
  }

  /** The values the server used, which are also where an untouched slider starts. */
  used(kernel) {
    for (const name of Object.keys(SLIDERS)) {
      const value = kernel?.[name];
      if (value > 0 && (this.options[name] === null || !this.#start[name])) this.#start[name] = value;
    }
    this.#show();
  }

  #change(what, sliding = false) {
    this.options = { ...this.options, ...what };
    this.#show();
    this.dispatchEvent(new CustomEvent("change", { detail: { sliding, what } }));
  }

  #show() {
    const { order, graph } = this.options;
    $("kernel").hidden = graph !== "kernel";
    $("settings-words").textContent = this.brush && graph === "paths" ? BRUSHED : WORDS[`${order} ${graph}`];
    for (const name of Object.keys(SLIDERS)) {
      const value = this.options[name] ?? this.#start[name];
      const ready = value > 0;
      $(name).disabled = $(`${name}-number`).disabled = !ready;
      if (!ready) continue;
      $(name).value = Math.round(1000 * this.#place(name, value));
      $(name).setAttribute("aria-valuetext", String(round(value)));
      if (document.activeElement !== $(`${name}-number`)) $(`${name}-number`).value = round(value);
    }
    $("kernel-reset").disabled = Object.keys(SLIDERS).every((name) => this.options[name] === null);
  }

  #range(name) {
    const { low, high } = SLIDERS[name];
    const start = this.#start[name] ?? this.options[name] ?? 0.05;
    return [low(start), high(start)];
  }

  #value(name, place) {
    const [low, high] = this.#range(name);
    return SLIDERS[name].log ? low * (high / low) ** place : low + place * (high - low);
  }

  #place(name, value) {
    const [low, high] = this.#range(name);
    const place = SLIDERS[name].log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
    return Math.min(Math.max(place, 0), 1);
  }
}

/** Buttons of which one is chosen; arrows move the choice, as in any group of radio buttons. */
export function segments(group, chosen, tell) {
  const buttons = [...group.querySelectorAll("[role=radio]")];
  const choose = (button) => {
    for (const b of buttons) {
      b.setAttribute("aria-checked", String(b === button));
      b.tabIndex = b === button ? 0 : -1;
    }
  };
  const name = (button) => button.dataset.value ?? button.dataset.tool;
  const set = (value) => choose(buttons.find((b) => name(b) === value) ?? buttons[0]);
  for (const button of buttons) {
    button.addEventListener("click", () => { choose(button); tell(name(button)); });
    button.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const next = buttons[(buttons.indexOf(button) + step + buttons.length) % buttons.length];
      next.focus();
      next.click();
    });
  }
  set(chosen);
  return set;
}

function round(value) { return Number(value.toPrecision(3)); }

// The side panel's first part: how many attractors, how sure, why, where, and what to doubt.

import { mainLabel } from "./scene.js";
import { markIcon, plotEmbedding, plotSpectrum } from "./plots.js";

const $ = (id) => document.getElementById(id);
// Nothing is certain: what would be rounded to 1.00 is said as this.
const SUREST = 0.99;

export class Answer {
  #which = 0;
  #last = null;

  /** `found` as the server says it, or null with a reason in `words`. */
  show(found, strokes, labels, theme, words = "") {
    this.#last = [found, strokes, labels, theme];
    const n = found?.n_attractors ?? 0;
    document.body.dataset.attractors = n;
    write("count", String(n));
    write("count-noun", n === 1 ? "goal" : "goals");
    // Beside the sliders, where the large number is out of sight.
    write("echo", n === 1 ? "1 goal" : `${n} goals`);
    // Sliders have none: the number is whatever they make it.
    const confidence = found?.confidence ?? null;
    write("sure-words", found ? capital(found.confidence_words ?? "") : "");
    write("sure-number", confidence === null ? "" : `confidence ${Math.min(Number(confidence), SUREST).toFixed(2)}`);
    $("meter").style.transform = `scaleX(${Math.min(Math.max(Number(confidence ?? 0), 0), 1)})`;
    $("meter").parentElement.hidden = confidence === null;
    write("why", found ? found.why ?? "" : words);
    $("question").hidden = !found?.question;
    write("question-words", found?.question ?? "");
    const ends = strokes.map((s) => mainLabel(labels[s.id], s.x.length));
    $("attractors").replaceChildren(...(found?.attractors ?? []).map((a, q) => row(a, q, ends, theme)));
    $("warnings").replaceChildren(...(found?.warnings ?? []).map(({ text }) => element("li", {}, text)));
    this.#closer(found, theme);
  }

  #closer(found, theme) {
    const spectra = found?.spectra ?? [];
    $("look").hidden = !spectra.length;
    if (!spectra.length) return;
    this.#which = Math.min(this.#which, spectra.length - 1);
    const buttons = spectra.length > 1 ? spectra.map((_, q) => this.#chooser(found, q, theme)) : [];
    const focused = [...$("which").children].indexOf(document.activeElement);
    $("which").replaceChildren(...buttons);
    buttons[focused]?.focus();
    const q = found.attractors?.[this.#which]?.colour ?? this.#which;
    plotSpectrum($("spectrum"), theme, q, spectra[this.#which]);
    const embedding = found.embeddings?.[this.#which];
    $("embedding").hidden = !embedding;
    if (embedding) plotEmbedding($("embedding"), theme, q, embedding);
  }

  #chooser(found, q, theme) {
    const chosen = element(
      "button", { type: "button", "aria-pressed": String(q === this.#which), "aria-label": `Goal ${q + 1}` },
      markIcon(theme, found.attractors?.[q]?.colour ?? q, 12), String(q + 1),
    );
    chosen.addEventListener("click", () => {
      this.#which = q;
      this.#closer(this.#last[0], this.#last[3]);
    });
    return chosen;
  }
}

function row({ x, error, colour, strokes, samples }, q, ends, theme) {
  const n = samples ?? strokes ?? ends.filter((e) => e === (colour ?? q)).length, what = samples === undefined ? "stroke" : "sample";
  return element(
    "li", {}, markIcon(theme, colour ?? q, 15), element("b", {}, String(q + 1)), element("span", {}, place(x, error)),
    element("span", { class: "n" }, `${n} ${what}${n === 1 ? "" : "s"}`),
  );
}

/** A place and its larger standard error, with as many digits as that leaves: two at least and three at most. Of ends that magnets
 * put on one point it is less than is written. */
function place(x, error) {
  const known = (error ?? []).filter(Number.isFinite), most = Math.max(...known, 0);
  const digits = most > 0 ? Math.min(Math.max(Math.ceil(-Math.log10(most)), 2), 3) : 3;
  const written = x.map((c) => c.toFixed(digits).replace(/^-(?=0\.?0*$)/, "").replace("-", "−")).join(", ");
  return known.length ? `(${written}) ± ${Math.max(most, 10 ** -digits).toFixed(digits)}` : `(${written})`;
}

export function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

/** Only what changed is written, so that a screen reader is not told the same twice. */
export function write(id, words) {
  const node = $(id);
  if (node.textContent !== words) node.textContent = words;
}

export function capital(words) { return words.charAt(0).toUpperCase() + words.slice(1); }

// The side panel's second part: the button, the progress, the loss, the certificate.

import { element, write } from "./answer.js";
import { plotLoss } from "./plots.js";

const $ = (id) => document.getElementById(id);

export class Learning {
  running = false;
  #losses = [];
  #steps = 1;
  #parts = 1;
  #theme = null;

  /** Sub-dynamics are learned one after the other, `parts` of them. */
  start(theme, parts) {
    this.running = true;
    this.#parts = Math.max(parts, 1);
    this.#losses = [];
    this.#theme = theme;
    $("training").hidden = false;
    $("loss").hidden = true;
    $("certificate").hidden = true;
    $("field-warnings").replaceChildren();
    $("progress").removeAttribute("value"); // of unknown length until the first step
    write("progress-words", "Getting ready");
  }

  progress({ step, steps, loss }) {
    if (!this.running) return;
    this.#steps = steps;
    if (Number.isFinite(loss)) this.#losses.push([step, loss]);
    $("progress").value = Math.min(step / Math.max(steps, 1), 1);
    const [done, all] = [step, steps].map((n) => n.toLocaleString("en"));
    write("progress-words", step >= steps ? "Drawing the field" : `Step ${done} of ${all}`);
    this.paint(this.#theme);
  }

  paint(theme) {
    this.#theme = theme;
    $("loss").hidden = this.#losses.length < 2;
    if (this.#losses.length > 1) plotLoss($("loss"), theme, this.#losses, this.#steps, this.#parts);
  }

  stop() {
    this.running = false;
    $("training").hidden = true;
  }

  certify({ holds, words } = {}, warnings = []) {
    $("field-warnings").replaceChildren(...warnings.map(({ text }) => element("li", {}, text)));
    $("certificate").hidden = false;
    $("certificate").classList.toggle("not", !holds);
    write("certificate-head", holds ? "The certificate holds." : "The certificate does not hold.");
    write("certificate-words", words ?? "");
  }

  forget() {
    this.stop();
    this.#losses = [];
    $("loss").hidden = true;
    $("certificate").hidden = true;
    $("field-warnings").replaceChildren();
  }
}

// The side panel's second part: the button, the progress, the loss, how well strokes are followed, the certificate.

import { element, write } from "./answer.js";
import { plotLoss } from "./plots.js";

const $ = (id) => document.getElementById(id);

export class Learning {
  running = false;
  #losses = [];
  #steps = 1;
  #part = 0;
  #theme = null;

  start(theme) {
    this.running = true;
    this.#steps = this.#part = 0;
    this.#losses = [];
    this.#theme = theme;
    $("training").hidden = false;
    $("loss").hidden = true;
    $("certificate").hidden = $("fit").hidden = $("memory").hidden = true;
    $("field-warnings").replaceChildren();
    $("progress").removeAttribute("value"); // of unknown length until the first step
    write("progress-words", "Getting ready");
  }

  progress({ step, steps, loss }) {
    if (!this.running) return;
    // More steps than before: where strokes cross, the motions are learned after the map.
    if (this.#steps && steps > this.#steps) this.#part++;
    this.#steps = Math.max(this.#steps, steps);
    if (Number.isFinite(loss)) this.#losses.push([step, loss, this.#part]);
    $("progress").value = Math.min(step / Math.max(steps, 1), 1);
    const [done, all] = [step, steps].map((n) => n.toLocaleString("en"));
    const what = this.#part ? "Strokes cross, learning the motions: step" : "Step";
    write("progress-words", step >= steps ? "Putting the field to the test" : `${what} ${done} of ${all}`);
    this.paint(this.#theme);
  }

  paint(theme) {
    this.#theme = theme;
    $("loss").hidden = this.#losses.length < 2;
    if (this.#losses.length > 1) plotLoss($("loss"), theme, this.#losses, this.#steps);
  }

  stop() {
    this.running = false;
    $("training").hidden = true;
  }

  /** A stable field may be a bad one: how well it follows stands beside the certificate, and first. */
  certify({ holds, words } = {}, fit = null, memory = null, warnings = []) {
    $("fit").hidden = !fit;
    $("fit").classList.toggle("not", !fit?.good);
    write("fit-head", fit?.head ?? "");
    write("fit-words", fit?.words ?? "");
    $("worst").hidden = !fit?.worst;
    $("memory").hidden = !memory;
    write("memory", memory ?? "");
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
    $("certificate").hidden = $("fit").hidden = $("memory").hidden = true;
    $("field-warnings").replaceChildren();
  }
}

// The side panel's second part: the button, the progress, the loss, how well strokes are followed, the certificate.

import { element, write } from "./answer.js";
import { plotLoss } from "./plots.js";

const $ = (id) => document.getElementById(id);

export class Learning {
  running = false;
  /** Revision of the strokes that are being learned. */
  rev = 0;
  #losses = [];
  #steps = 1;
  #part = 0;
  #theme = null;

  /** What was known of the field before stays until there is something newer. */
  start(theme, rev) {
    Object.assign(this, { running: true, rev });
    this.#steps = this.#part = 0;
    this.#losses = [];
    this.#theme = theme;
    $("training").hidden = false;
    for (const id of ["fit", "certificate"]) $(id).classList.add("old");
    $("progress").removeAttribute("value"); // of unknown length until the first step
    write("progress-words", "Getting ready");
  }

  progress({ step, steps, loss }) {
    if (!this.running) return;
    // More steps than before: where strokes cross, the motions are a part of their own.
    if (this.#steps && steps > this.#steps) this.#part++;
    this.#steps = Math.max(this.#steps, steps);
    if (Number.isFinite(loss)) this.#losses.push([step, loss, this.#part]);
    $("progress").value = Math.min(step / Math.max(steps, 1), 1);
    const share = Math.floor((100 * step) / Math.max(steps, 1));
    write("progress-words", step >= steps ? "Looking how well it follows your strokes" : `Learning the flow, ${share} %`);
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
  learned(fit = null, memory = null, warnings = []) {
    this.stop();
    $("fit").hidden = !fit;
    $("fit").classList.toggle("not", !fit?.good);
    $("fit").classList.remove("old");
    write("fit-head", fit?.head ?? "");
    write("fit-words", fit?.words ?? "");
    $("worst").hidden = !fit?.worst;
    $("memory").hidden = !memory;
    write("memory", memory ?? "");
    $("field-warnings").replaceChildren(...warnings.map(({ text }) => element("li", {}, text)));
    $("certificate").hidden = false;
    $("certificate").classList.remove("not", "old");
    $("certificate").classList.add("waiting");
    write("certificate-head", "Stable by construction.");
    write("certificate-words", "Putting it to the test.");
  }

  /** What came of the test, later than the field. */
  certified({ holds, words }) {
    $("certificate").hidden = false;
    $("certificate").classList.toggle("not", !holds);
    $("certificate").classList.remove("waiting", "old");
    write("certificate-head", holds ? "The certificate holds." : "The certificate does not hold.");
    write("certificate-words", words ?? "");
  }

  /** The field is again the one that these words are about. */
  back() {
    this.stop();
    for (const id of ["fit", "certificate"]) $(id).classList.remove("old");
  }

  /** The test could not be done: that is said, and nothing else claimed. */
  untested(why) {
    $("certificate").classList.remove("waiting", "old");
    $("certificate").classList.add("not");
    write("certificate-head", "Not tested.");
    write("certificate-words", why);
  }

  forget() {
    this.stop();
    this.#losses = [];
    $("loss").hidden = true;
    $("certificate").hidden = $("fit").hidden = $("memory").hidden = true;
    $("field-warnings").replaceChildren();
  }
}

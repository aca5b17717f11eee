// Messages from the server, one handler for each kind. What they say is only ever set as text, never as markup.

import { write } from "./answer.js";
import { wholeStrokes } from "./drawing.js";
import { fieldOf, motionsOf } from "./field.js";
import { announce, dismiss, hint, notify } from "./notify.js";
import { mark } from "./studio.js";
import { follow, ownAddress } from "./takeaway.js";

const $ = (id) => document.getElementById(id);
const AT_HOME = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);

export function handleMessages(studio, menu) {
  const { link, canvas, drawing, particles, learning, settings, answer } = studio;

  const handlers = {
    hello({ version, limits, presets }) {
      studio.limits = limits ?? null;
      // The server has set a cookie: a token is better not left in the address.
      if (new URLSearchParams(location.search).has("token")) history.replaceState(null, "", location.pathname);
      menu.fill(Array.isArray(presets) ? presets : []);
      write("about", version ? `eigenwell ${version}${AT_HOME ? ". Nothing you draw leaves this computer." : ""}` : "");
      mark.readyMs ??= performance.now().toFixed(0);
      dismiss(); // of a connection that is back
      if (drawing.strokes.length || studio.rev) studio.publish(false);
    },

    empty({ rev }) { if (rev === studio.rev) studio.answered = rev; },

    identified(message) {
      if (message.rev !== studio.rev) return;
      const { endedAt } = studio;
      Object.assign(studio, { answered: message.rev, found: message, labels: message.labels ?? {}, endedAt: null });
      if (message.field) studio.fieldRev = message.rev; // back at what the field was learned from
      settings.used(message.kernel);
      answer.show(message, drawing.strokes, studio.labels, studio.theme);
      $("code").hidden = !message.python;
      write("python", message.python ?? "");
      canvas.repaint("scene");
      canvas.afterPaint(() => {
        if (endedAt !== null) mark.latencyMs = (performance.now() - endedAt).toFixed(1);
        mark.labelled = message.rev;
      });
      studio.teachSoon();
    },

    progress(message) { if (message.rev === studio.rev) learning.progress(message); },

    learned(message) {
      if (message.rev !== studio.rev || !learning.running) return;
      learning.stop();
      const [map, motions] = [fieldOf(message.grid), motionsOf(message.motions)];
      const goals = (Array.isArray(message.layers) ? message.layers : []).map(fieldOf).filter(Boolean);
      const field = map ?? motions;
      if (!field) {
        notify("The server sent a field this page cannot read. Reload the page.");
        return;
      }
      studio.fieldRev = message.rev;
      studio.setField(field, map ? [] : goals);
      dismiss();
      studio.worst = message.fit?.worst ?? null;
      learning.certify(message.certificate, message.fit, message.memory, fresh(message.warnings, studio.found?.warnings));
      canvas.afterPaint(() => { mark.learnMs = (performance.now() - studio.learnAt).toFixed(0); });
      announce("The field is learned.");
      // On a phone the button that was pressed is a screen below what it made.
      $("stage").scrollIntoView({ block: "nearest", behavior: canvas.still ? "auto" : "smooth" });
    },

    path(message) {
      particles.follow(message);
      canvas.repaint("paper");
    },

    strokes_loaded({ strokes, name, scale }) {
      const whole = wholeStrokes(strokes);
      if (!whole.length) {
        notify("There was no stroke in it. Choose another file.");
        return;
      }
      drawing.replace(whole);
      if (scale?.note) hint(scale.note, 9000);
      announce(`${name ?? "File"} opened: ${whole.length} strokes`);
    },

    file({ url, name }) {
      const address = ownAddress(url);
      if (address) follow(address, String(name ?? "eigenwell"));
    },

    error({ about, rev, message, id }) {
      if (about === "strokes") {
        if (rev !== studio.rev && rev !== null) return;
        Object.assign(studio, { answered: studio.rev, found: null, labels: {} });
        answer.show(null, drawing.strokes, {}, studio.theme, String(message));
        canvas.repaint("scene");
        return;
      }
      if (about === "learn") learning.stop();
      if (about === "simulate") {
        particles.failed(id);
        canvas.repaint("paper");
      }
      notify(String(message));
    },
  };

  link.addEventListener("message", ({ detail }) => {
    if (Object.hasOwn(handlers, detail.type)) handlers[detail.type](detail);
    studio.tell();
  });
}

/** Doubts about the field that were not already told about the strokes. */
function fresh(warnings, known) {
  const told = new Set((known ?? []).map((w) => w.text));
  return (Array.isArray(warnings) ? warnings : []).filter((w) => !told.has(w.text));
}

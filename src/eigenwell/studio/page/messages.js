// Messages from the server, one handler for each kind. What they say is only ever set as text, never as markup.

import { write } from "./answer.js";
import { wholeStrokes } from "./drawing.js";
import { announce, dismiss, hint, notify } from "./notify.js";
import { mark } from "./studio.js";
import { follow, ownAddress } from "./takeaway.js";

const $ = (id) => document.getElementById(id);
const AT_HOME = ["localhost", "127.0.0.1", "[::1]"].includes(location.hostname);

export function handleMessages(studio, menu) {
  const { link, canvas, drawing, learning, settings, answer } = studio;

  const handlers = {
    hello({ version, limits, presets }) {
      studio.limits = limits ?? null;
      // The server has set a cookie: a token is better not left in the address.
      if (new URLSearchParams(location.search).has("token")) history.replaceState(null, "", location.pathname);
      menu.fill(Array.isArray(presets) ? presets : []);
      write("about", version ? `eigenwell ${version}${AT_HOME ? ". Nothing you draw leaves this computer." : ""}` : "");
      mark.readyMs ??= performance.now().toFixed(0);
      dismiss(); // of a connection that is back
      // The server does not remember a page that was away.
      if (studio.model && !studio.isStale) studio.kept = studio.model;
      if (drawing.strokes.length || studio.rev) studio.publish(false);
    },

    empty({ rev }) { if (rev === studio.rev) studio.answered = rev; },

    identified(message) {
      if (message.rev !== studio.rev) return;
      const { endedAt } = studio;
      studio.identified(message);
      Object.assign(studio, { answered: message.rev, endedAt: null });
      // Back at what the field was learned from, here or in the field that was kept.
      if (message.field) {
        studio.fields.back(message.rev);
        if (learning.running) studio.stopLearning(); // of strokes that were taken back
        learning.back();
      } else if (!studio.kept && studio.fields.sketchNow()) studio.flowSeen(message.rev);
      const kept = message.field ? null : studio.kept;
      studio.kept = null;
      settings.used(message.kernel);
      answer.show(studio.found, drawing.strokes, studio.labels, studio.theme);
      studio.gestures.answered();
      $("code").hidden = !message.python;
      write("python", numbered(message.python ?? "", studio.numbers));
      canvas.repaint("scene", "backdrop", "flow");
      canvas.afterPaint(() => {
        if (endedAt !== null) mark.latencyMs = (performance.now() - endedAt).toFixed(1);
        mark.labelled = message.rev;
      });
      studio.tell();
      // The field that was kept with these strokes, or else one is learned.
      if (!kept || !link.send({ type: "restore", rev: message.rev, base64: kept, numbers: studio.numbers })) studio.teachSoon();
    },

    progress(message) { if (message.rev === learning.rev) learning.progress(message); },

    growing(message) {
      if (!learning.running || message.rev !== learning.rev) return;
      if (studio.fields.show(message.field, message.rev, true)) {
        const grown = (studio.grown = { weights: weights(message.field), seen: null });
        canvas.afterPaint(() => { grown.seen = performance.now(); });
        studio.flowSeen(message.rev);
      }
    },

    learned(message) {
      const restored = message.restored === true;
      if (!restored && (!learning.running || message.rev !== learning.rev)) return;
      if (!studio.fields.show(message.field, message.rev, false)) {
        learning.stop();
        notify("The server sent a field this page cannot read. Reload the page.");
        return;
      }
      // Marked where it is missed; of a good fit the panel names the worst one, for whoever wants to see it.
      studio.worst = message.fit?.good === false ? message.fit.worst : null;
      studio.leastFollowed = message.fit?.worst ?? null;
      studio.model = message.model ?? null;
      learning.learned(message.fit, message.memory, fresh(message.warnings, studio.found?.warnings));
      canvas.repaint("scene");
      // The final field may have been seen before it was known how well it follows.
      const seen = studio.grown?.weights === weights(message.field) ? studio.grown.seen : null;
      canvas.afterPaint(() => {
        if (studio.learnAt !== null) mark.learnMs = (performance.now() - studio.learnAt).toFixed(0);
        if (message.rev === studio.rev) mark.finalMs = ((seen ?? performance.now()) - studio.lastEnd).toFixed(0);
        mark.learnedRev = message.rev;
      });
      announce(restored ? "The flow is back." : "The flow is learned.");
      if (studio.rain) studio.gestures.rain();
      studio.rain = false;
      if (!restored) studio.storeSoon();
      if (message.rev !== studio.rev) studio.teachSoon();
    },

    certified(message) {
      // Of strokes that were cleared meanwhile nobody wants to know.
      if (!studio.fields.learned || studio.fields.growing || ![studio.fields.rev, Number(mark.learnedRev)].includes(message.rev)) return;
      learning.certified(message);
      mark.certified = message.rev;
    },

    strokes_loaded({ strokes, name, scale, view, goals, options, model }) {
      const whole = wholeStrokes(strokes);
      if (!whole.length) {
        notify("There was no stroke in it. Choose another file.");
        return;
      }
      if (options) settings.set(options);
      studio.kept = typeof model === "string" ? model : null;
      drawing.replace(whole);
      studio.rememberGoals(goals);
      if (view) canvas.look(view);
      if (scale?.note) hint(scale.note, 9000);
      announce(`${name ?? "File"} opened: ${whole.length} strokes`);
    },

    pictures({ pictures }) { menu.picture(pictures ?? {}); },

    compared(message) { if (message.rev === studio.rev) studio.comparison.show(message, studio); },

    file({ url, name }) {
      const address = ownAddress(url);
      if (address) follow(address, String(name ?? "eigenwell"));
    },

    error({ about, rev, message }) {
      if (about === "strokes") {
        if (rev !== studio.rev && rev !== null) return;
        Object.assign(studio, { answered: studio.rev, found: null, labels: {} });
        answer.show(null, drawing.strokes, {}, studio.theme, String(message));
        canvas.repaint("scene");
        return;
      }
      if (about === "learn") learning.stop();
      if (about === "certify") {
        learning.untested(String(message)); // a field without its test is still a field
        return;
      }
      if (about === "restore") {
        studio.teachSoon();
        return;
      }
      notify(String(message));
    },
  };

  link.addEventListener("message", ({ detail }) => {
    if (Object.hasOwn(handlers, detail.type)) handlers[detail.type](detail);
    studio.tell();
  });
}

/** All that decides what particles do. */
function weights({ map, lifted }) { return (lifted?.length ? lifted : [map]).map((one) => one?.weights).join(" "); }

/** The Python lines, with the numbers that the goals have here. */
function numbered(lines, order) {
  if (order.every((q, k) => q === k)) return lines;
  const more = `found = found.renumbered([${order.join(", ")}])  # goals as numbered in the studio`;
  return lines.replace(/^found = .*$/m, (line) => `${line}\n${more}`);
}

/** Doubts about the field that were not already told about the strokes. */
function fresh(warnings, known) {
  const told = new Set((known ?? []).map((w) => w.text));
  return (Array.isArray(warnings) ? warnings : []).filter((w) => !told.has(w.text));
}

// What keys do to the studio; keys.js says which key is which.

import { NO_FIELD } from "./gestures.js";
import { listen } from "./keys.js";
import { announce, dismiss, notify } from "./notify.js";

const $ = (id) => document.getElementById(id);
// World units an arrow moves a selected stroke, and pushes the arm.
const NUDGE = 0.02, SHOVE = 0.06;
const ZOOM = 1.25;
const WALLS = { low: ["left", "lower"], high: ["right", "upper"] };
const named = ({ kind, q, k, side, axis }) => (
  kind === "wall" ? `The ${WALLS[side][axis]} wall` : kind === "goal" ? `Goal ${q + 1}` : `Stone ${k + 1}`
);

/** `acts`: use(tool), save(), switchTheme(), slow(), fit(). */
export function wireKeys(studio, { use, save, switchTheme, slow, fit }) {
  const { drawing, particles, view, canvas, learning, playground } = studio;
  const { pen } = studio.gestures;
  listen($("paper"), {
    undo: () => studio.play.step("back"),
    redo: () => studio.play.step("on"),
    save,
    open: () => $("file").click(),
    tool: use,
    layer: (index) => studio.toggleLayer(index),
    learn: () => studio.teach(),
    theme: switchTheme,
    help: () => $("help").showModal(),
    remove() {
      if (studio.tool === "drop" && playground.chosen?.kind === "stone") {
        playground.remove(playground.chosen);
        studio.play.worldRests();
      } else drawing.remove([...studio.selected]);
    },
    all: () => studio.select(drawing.strokes.map((s) => s.id)),
    zoom: (step) => { canvas.zoom(ZOOM ** step); studio.tell(); },
    fit,
    slow,
    brush: () => studio.settings.useBrush(!studio.brush),
    deep: () => studio.deepen(),
    press(id) { if (!$(id).disabled) { use("drop"); $(id).click(); } },
    nothing() {},

    select(step) {
      if (studio.tool === "drop") {
        const all = playground.handles, is = (a) => JSON.stringify(a);
        const here = all.findIndex((h) => is(h) === is(playground.chosen));
        playground.chosen = all.length ? all[here < 0 ? (step > 0 ? 0 : all.length - 1) : (here + step + all.length) % all.length] : null;
        if (playground.chosen) announce(`${named(playground.chosen)} selected: arrows move it`);
        canvas.repaint("scene");
        return;
      }
      const n = drawing.strokes.length;
      const here = drawing.strokes.findIndex((s) => studio.selected.has(s.id));
      if (n) studio.select(drawing.strokes[here < 0 ? (step > 0 ? 0 : n - 1) : (here + step + n) % n].id);
    },

    escape() {
      if (pen.busy) pen.abandon();
      else if (!$("notice").hidden) dismiss();
      else if (!$("valley").hidden) studio.deepen(false);
      else if (studio.pusher.busy) studio.play.togglePush();
      else if (playground.chosen) {
        playground.chosen = null;
        canvas.repaint("scene");
      } else if (studio.selected.size) studio.select([]);
      else if (particles.items.length) {
        particles.clear();
        canvas.repaint("paper");
      } else if (learning.running) studio.stopLearning();
      studio.tell();
    },

    arrow(key, pressed) {
      const to = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[key];
      if (!to) return;
      if (pressed && studio.tool === "drop" && studio.pusher.busy) {
        studio.pusher.push(SHOVE * to[0], SHOVE * to[1]);
        return;
      }
      if (pressed && studio.tool === "drop" && playground.chosen) {
        const at = playground.placeOf(playground.chosen);
        playground.drag(playground.chosen, [at[0] + NUDGE * to[0], at[1] + NUDGE * to[1]], view);
        studio.play.worldRests();
        return;
      }
      if (pressed && studio.tool === "move") {
        drawing.move([...studio.selected], NUDGE * to[0], NUDGE * to[1]);
        return;
      }
      pen.steer(key, pressed);
      canvas.repaint("paper");
    },

    space() {
      if (studio.tool === "drop") {
        if (studio.fields.learned) particles.add(view.toWorld(pen.cursor ?? [view.width / 2, view.height / 2]));
        else notify(NO_FIELD);
      } else if (studio.tool === "draw") {
        if (pen.penIsDown) pen.penUp();
        else pen.penDown(performance.now(), view.width, view.height);
      }
      canvas.repaint("paper");
      studio.tell();
    },
  });
}

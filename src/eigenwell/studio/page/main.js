// eigenwell studio: draw demonstrations, watch them become a stable field.

import { systemTheme, wire } from "./controls.js";
import { introduce, isFirstVisit } from "./intro.js";
import { handleMessages } from "./messages.js";
import { restore } from "./storage.js";
import { mark, Studio } from "./studio.js";

const WELCOME = 150;
const first = isFirstVisit();
const kept = restore();
const studio = new Studio(kept.choices);
if (["light", "dark"].includes(kept.choices.theme)) studio.chosenTheme = kept.choices.theme;
studio.setTheme(studio.chosenTheme ?? systemTheme());
mark.strokes = 0;
handleMessages(studio, wire(studio));
if (kept.strokes.length || kept.past.length) {
  studio.kept = kept.model;
  studio.drawing.restore(kept);
  if (kept.choices.view) studio.canvas.look(kept.choices.view);
}
studio.tell();
addEventListener("pagehide", () => studio.storeRest());
studio.link.open();
// The example of the empty page can wait until everything else is there.
setTimeout(() => { if (!studio.fields.learned) studio.fields.forget(); }, WELCOME);
if (first) introduce();

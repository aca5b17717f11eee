// eigenwell studio: draw demonstrations, watch them become a stable field.

import { systemTheme, wire } from "./controls.js";
import { handleMessages } from "./messages.js";
import { restore } from "./storage.js";
import { mark, Studio } from "./studio.js";

const kept = restore();
const studio = new Studio(kept.choices);
if (["light", "dark"].includes(kept.choices.theme)) studio.chosenTheme = kept.choices.theme;
studio.setTheme(studio.chosenTheme ?? systemTheme());
mark.strokes = 0;
handleMessages(studio, wire(studio));
studio.fields.forget();
if (kept.strokes.length || kept.past.length) {
  studio.kept = kept.model;
  studio.drawing.restore(kept);
  if (kept.choices.view) studio.canvas.look(kept.choices.view);
}
studio.tell();
addEventListener("pagehide", () => studio.storeRest());
studio.link.open();

// Shortcuts. On the canvas arrows and Space draw; everywhere but in fields single letters choose.

const typing = (node) => node?.closest?.("input:not([type=range]):not([type=checkbox]), textarea, select, dialog, [role=menu]");

export function listen(canvas, act) {
  document.addEventListener("keydown", (event) => {
    const { key } = event;
    const control = event.ctrlKey || event.metaKey;
    if (typing(event.target) || event.altKey) return;
    const command = control ? controlled(key.toLowerCase(), event.shiftKey) : plain(key, event.target === canvas, event.repeat);
    if (!command) return;
    act[command[0]](...command.slice(1));
    event.preventDefault();
  });
  document.addEventListener("keyup", ({ key }) => act.arrow(key, false));
  addEventListener("blur", () => ["Left", "Right", "Up", "Down"].forEach((k) => act.arrow(`Arrow${k}`, false)));
}

function controlled(key, shift) {
  if (key === "z") return [shift ? "redo" : "undo"];
  return { y: ["redo"], s: ["save"], o: ["open"], a: ["all"] }[key] ?? null;
}

function plain(key, onCanvas, repeat) {
  if (onCanvas && key.startsWith("Arrow")) return ["arrow", key, true];
  if (onCanvas && key === " ") return repeat ? ["nothing"] : ["space"];
  if (onCanvas && key === "Enter") return ["learn"];
  if (onCanvas && (key === "Delete" || key === "Backspace")) return ["remove"];
  if (/^[1-6]$/.test(key)) return ["layer", Number(key) - 1];
  return {
    d: ["tool", "draw"], m: ["tool", "move"], p: ["tool", "drop"], "[": ["select", -1], "]": ["select", 1], Delete: ["remove"],
    Escape: ["escape"], "?": ["help"], l: ["theme"], o: ["open"], s: ["save"], v: ["deep"], ".": ["slow"], b: ["brush"],
    r: ["press", "rain"], t: ["press", "stone"], w: ["press", "wall"], x: ["press", "push"],
    "+": ["zoom", 1], "=": ["zoom", 1], "-": ["zoom", -1], 0: ["fit"],
  }[key.length === 1 ? key.toLowerCase() : key] ?? null;
}

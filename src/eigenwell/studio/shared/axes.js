// Axes of a picture whose data have units of their own: ticks at round numbers along its left and its lower edge.

// Pixels between two ticks at least, and of a tick.
const ROOM = 90, TICK = 5;

/** Data are middle + half times what is seen; `names` of the axes stand at their ends. */
export function paintAxes(ctx, view, theme, { middle, half, names }) {
  const [x0, y0, x1, y1] = view.box();
  Object.assign(ctx, { fillStyle: theme.faint, strokeStyle: theme.faint, lineWidth: 1, font: "11px system-ui, sans-serif" });
  [[x0, x1, view.width], [y0, y1, view.height]].forEach(([from, to, pixels], axis) => {
    const [low, high] = [from, to].map((c) => middle[axis] + half[axis] * c);
    const step = round((high - low) / Math.max(pixels / ROOM, 2)), digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    for (let k = Math.ceil(low / step); k * step <= high; k++) {
      const seen = (k * step - middle[axis]) / half[axis];
      const [x, y] = axis ? [0, view.toScreen([x0, seen])[1]] : [view.toScreen([seen, y0])[0], view.height];
      // No room for the name of the axis, or for the other axis.
      if (axis ? y < 34 || y > view.height - 26 : x < 44 || x > view.width - 34) continue;
      ctx.beginPath();
      ctx.moveTo(x, y);
      ctx.lineTo(x + (axis ? TICK : 0), y - (axis ? 0 : TICK));
      ctx.stroke();
      ctx.textAlign = axis ? "left" : "center";
      ctx.fillText((k * step).toFixed(digits), x + (axis ? TICK + 3 : 0), y + (axis ? 4 : -TICK - 4));
    }
  });
  ctx.textAlign = "right";
  ctx.fillText(names[0], view.width - 8, view.height - TICK - 4);
  ctx.textAlign = "left";
  ctx.fillText(names[1], 8, 16);
}

/** 1, 2 or 5 times a power of ten, not below a length. */
function round(length) {
  const power = 10 ** Math.floor(Math.log10(length));
  return power * [1, 2, 5, 10].find((m) => m * power >= length * (1 - 1e-9));
}

// What lies behind the strokes: regions with their borders, and level lines. Painted again only when something of it changes.

import { colour, rgb } from "./palette.js";

// Nodes along the longer side of how near the strokes are: it is soft anyway.
const SHADES = 60;

/** Fills, borders and level lines of what is seen of a field. */
export function paintBackdrop(ctx, view, theme, field, shown, faded) {
  ctx.clearRect(0, 0, view.width, view.height);
  if (!field) return;
  ctx.save();
  if (faded) ctx.globalAlpha = 0.4;
  if (shown.basins) {
    const [x0, y0, x1, y1] = field.regions.extent ?? field.box;
    ctx.drawImage(regionImage(field, theme), ...view.toScreen([x0, y1]), (x1 - x0) * view.scale, (y1 - y0) * view.scale);
    const lines = field.regions.borders();
    for (const [style, width, dash] of [[theme.paper, 4, []], [theme.ink, 1.5, [6, 4]]]) {
      ctx.beginPath();
      for (const line of lines) line.forEach((p, i) => (i ? ctx.lineTo(...view.toScreen(p)) : ctx.moveTo(...view.toScreen(p))));
      Object.assign(ctx, { strokeStyle: style, lineWidth: width });
      ctx.setLineDash(dash);
      ctx.stroke();
      ctx.setLineDash([]);
    }
    for (const place of field.saddles) paintSaddle(ctx, theme, view.toScreen(place));
  }
  if (shown.potential) {
    for (const { q, level, segments } of field.contours()) {
      ctx.beginPath();
      for (const [x1, y1, x2, y2] of segments) {
        ctx.moveTo(...view.toScreen([x1, y1]));
        ctx.lineTo(...view.toScreen([x2, y2]));
      }
      Object.assign(ctx, { globalAlpha: (faded ? 0.4 : 1) * (0.52 - 0.28 * level), strokeStyle: colour(theme, q), lineWidth: 1 });
      ctx.stroke();
    }
  }
  ctx.restore();
}

/** One pixel for a pixel of the regions, tinted where the field was learned, paler far from the data. */
function regionImage(field, theme) {
  if (field.image?.theme === theme) return field.image;
  const { regions } = field;
  const [nx, ny] = regions.goals ? [regions.nx, regions.ny] : [1, 1];
  const image = new ImageData(nx, ny), words = new Uint32Array(image.data.buffer);
  const tints = new Map();
  // Red, green, blue, opaque, as they lie in memory.
  const tint = (q) => tints.get(q) ?? tints.set(q, new Uint32Array(Uint8Array.of(...rgb(colour(theme, q)), 255).buffer)[0]).get(q);
  for (let j = 0; j < ny; j++) {
    for (let i = 0; i < nx; i++) words[(ny - 1 - j) * nx + i] = tint(regions.goals ? regions.goals[j * nx + i] : regions.at());
  }
  const whole = canvas(nx, ny), pen = whole.getContext("2d");
  pen.putImageData(image, 0, 0);
  const shade = shading(field, theme);
  const out = regions.goals ? whole : canvas(shade.width, shade.height), ctx = out.getContext("2d");
  if (out !== whole) ctx.drawImage(whole, 0, 0, out.width, out.height);
  ctx.globalCompositeOperation = "destination-in";
  ctx.imageSmoothingQuality = "high";
  ctx.drawImage(shade, 0, 0, out.width, out.height);
  return (field.image = Object.assign(out, { theme }));
}

/** How strong the tint is: full where strokes are near, and softly less beyond. */
function shading({ learned, regions, box: whole }, theme) {
  const box = regions.extent ?? whole;
  const [w, h] = [box[2] - box[0], box[3] - box[1]];
  const [nx, ny] = [w, h].map((side) => Math.max(4, Math.round((SHADES * side) / Math.max(w, h))));
  const place = (k) => [box[0] + ((k % nx) + 0.5) * (w / nx), box[3] - (Math.floor(k / nx) + 0.5) * (h / ny)];
  const near = blurred(Float64Array.from({ length: nx * ny }, (_, k) => (learned.far(...place(k)) ? 0 : 1)), nx, ny);
  const image = new ImageData(nx, ny);
  near.forEach((share, k) => { image.data[4 * k + 3] = 14 + share * (theme.name === "dark" ? 32 : 22); });
  const out = canvas(nx, ny);
  out.getContext("2d").putImageData(image, 0, 0);
  return out;
}

/** Each node the mean of its neighbourhood, twice: steps become slopes. */
export function blurred(values, nx, ny) {
  let now = values;
  for (let pass = 0; pass < 2; pass++) {
    now = now.map((_, k) => {
      const i = k % nx, j = (k - i) / nx;
      let sum = 0, n = 0;
      for (let b = Math.max(j - 1, 0); b <= Math.min(j + 1, ny - 1); b++) {
        for (let a = Math.max(i - 1, 0); a <= Math.min(i + 1, nx - 1); a++) { sum += now[b * nx + a]; n++; }
      }
      return sum / n;
    });
  }
  return now;
}

function canvas(width, height) { return Object.assign(document.createElement("canvas"), { width, height }); }

/** A hollow diamond: where regions meet. */
function paintSaddle(ctx, theme, [x, y]) {
  ctx.beginPath();
  for (const [a, b] of [[0, -7], [7, 0], [0, 7], [-7, 0]]) ctx.lineTo(x + a, y + b);
  ctx.closePath();
  ctx.fillStyle = theme.paper;
  ctx.fill();
  ctx.lineWidth = 1.8;
  ctx.strokeStyle = theme.ink;
  ctx.stroke();
}

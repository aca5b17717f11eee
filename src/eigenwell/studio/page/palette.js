// The colours of src/eigenwell/palette.py (a test keeps the two equal), and a mark per sub-dynamics beside its colour.

export const LIGHT = {
  name: "light", paper: "#ffffff", ink: "#1c1e21", faint: "#5b6169", grid: "#e4e6ea", unassigned: "#9aa0a6",
  colours: ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B07D00", "#56B4E9", "#7A4EAB"],
  speeds: ["#E8B06A", "#E5795C", "#C2417E", "#7F2A8C", "#33145F"],
};
export const DARK = {
  name: "dark", paper: "#15171a", ink: "#e8eaed", faint: "#a2a9b1", grid: "#2c3036", unassigned: "#767d85",
  colours: ["#4397E0", "#F08A4B", "#5FD8A4", "#E29CC5", "#E6B84A", "#9AD2F6", "#B692E0"],
  speeds: ["#6F4A9C", "#A8488F", "#DE6273", "#F7A072", "#FDEBB0"],
};

// Five marks and seven colours have no common factor: no two sub-dynamics look alike before the 36th.
const MARKS = [
  [[0, 1], [0.38, 0.92], [0.71, 0.71], [0.92, 0.38], [1, 0], [0.92, -0.38], [0.71, -0.71], [0.38, -0.92],
    [0, -1], [-0.38, -0.92], [-0.71, -0.71], [-0.92, -0.38], [-1, 0], [-0.92, 0.38], [-0.71, 0.71], [-0.38, 0.92]],
  [[-0.85, -0.85], [0.85, -0.85], [0.85, 0.85], [-0.85, 0.85]],
  [[0, -1.2], [1.05, 0.75], [-1.05, 0.75]],
  [[0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]],
  [[-0.4, -1.1], [0.4, -1.1], [0.4, -0.4], [1.1, -0.4], [1.1, 0.4], [0.4, 0.4], [0.4, 1.1], [-0.4, 1.1],
    [-0.4, 0.4], [-1.1, 0.4], [-1.1, -0.4], [-0.4, -0.4]],
];

// Past the seventh goal colours come again, and lines are broken in another way each time.
const DASHES = [[], [14, 5], [14, 4, 2, 4], [6, 4]];

/** How the line of sub-dynamics q is broken; dots where it belongs to none. */
export function dash(theme, q) {
  if (q === null) return [];
  return q < 0 ? [3, 6] : DASHES[Math.floor(q / theme.colours.length) % DASHES.length];
}

/** Which of the five colours of a theme a speed has, in units of the usual one: each step is twice as fast. */
export function speedStep(ratio) {
  return Math.min(Math.max(Math.round(Math.log2(Math.max(ratio, 1e-9))) + 2, 0), 4);
}

export const colour = (theme, q) => (q < 0 ? theme.unassigned : theme.colours[q % theme.colours.length]);

/** Corners of the mark of sub-dynamics q around (x, y); y grows downwards. */
export function mark(q, x, y, r) {
  return MARKS[Math.max(q, 0) % MARKS.length].map(([a, b]) => [x + r * a, y + r * b]);
}

export function rgb(hex) {
  const n = parseInt(hex.slice(1), 16);
  return [n >> 16, (n >> 8) & 255, n & 255];
}

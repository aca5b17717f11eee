// Paints every figure for the current theme. Figures carry no colours of their own: a trace's meta says whose it is.
const FIGURES = JSON.parse(document.getElementById("figures").textContent);
const ROOT = document.documentElement;
const SYSTEM = matchMedia("(prefers-color-scheme: dark)");
const NARROW = matchMedia("(max-width: 640px)");
let chosen = null;  // what the reader asked for; null follows the system

const theme = () => PALETTES[chosen ?? (SYSTEM.matches ? "dark" : "light")];
const colourOf = (t, q) => (q < 0 ? t.unassigned : t.colours[q % t.colours.length]);

function paintedTrace(trace, t) {
  const out = structuredClone(trace);
  const meta = trace.meta ?? {};
  const colour = meta.ink ? t.ink : colourOf(t, meta.q ?? -1);
  out.marker = { ...out.marker, color: colour };
  out.line = { ...out.line, color: colour };
  if (meta.faded) out.opacity = meta.faded;
  for (const bar of ["error_x", "error_y", "error_z"]) if (out[bar]) out[bar] = { ...out[bar], color: colour };
  out.textfont = { color: t.ink, size: 14 };
  return out;
}

function paintedLayout(figure, t) {
  const out = structuredClone(figure.layout);
  const axis = { gridcolor: t.grid, zerolinecolor: t.grid, linecolor: t.grid, tickcolor: t.grid, automargin: true };
  for (const key of Object.keys(out)) {
    if (/^[xy]axis\d*$/.test(key)) out[key] = { ...axis, ...out[key] };
    if (/^scene\d*$/.test(key)) {
      for (const name of ["xaxis", "yaxis", "zaxis"]) {
        out[key][name] = { ...axis, backgroundcolor: t.paper, showbackground: false, ...out[key][name] };
      }
    }
  }
  for (const shape of out.shapes ?? []) { shape.fillcolor = t.faint; shape.opacity = 0.12; }
  const legend = figure.data.some((trace) => trace.showlegend !== false);
  return {
    ...out, showlegend: legend, paper_bgcolor: t.paper, plot_bgcolor: t.paper, height: figure.height,
    font: { family: "system-ui, -apple-system, Segoe UI, sans-serif", size: 13, color: t.faint },
    margin: { l: 56, r: 12, t: legend ? (NARROW.matches ? 84 : 44) : 10, b: 48 },
    // At the very top of the figure's box, so that it never meets the titles of small pictures.
    legend: { orientation: "h", x: 0, xanchor: "left", yref: "container", y: 0.995, yanchor: "top",
              font: { size: 13, color: t.ink }, itemsizing: "constant" },
    hoverlabel: { bgcolor: t.paper, bordercolor: t.faint, font: { color: t.ink } },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: t.faint, activecolor: t.ink },
  };
}

function draw() {
  const t = theme();
  ROOT.dataset.theme = t.name;
  document.getElementById("theme").textContent = t.name === "dark" ? "Light" : "Dark";
  for (const dot of document.querySelectorAll(".dot")) dot.style.background = colourOf(t, Number(dot.dataset.q));
  const config = { displaylogo: false, responsive: true, displayModeBar: NARROW.matches ? false : "hover",
                   modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d"] };
  return Promise.all(FIGURES.map((figure) =>
    Plotly.react(figure.id, figure.data.map((trace) => paintedTrace(trace, t)), paintedLayout(figure, t), config)));
}

document.getElementById("theme").addEventListener("click", () => {
  chosen = theme().name === "dark" ? "light" : "dark";
  draw();
});
SYSTEM.addEventListener("change", draw);
NARROW.addEventListener("change", draw);
draw().then(() => { ROOT.dataset.drawn = "yes"; });

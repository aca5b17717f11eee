"""docs/images/eight.png and warps.png, by the scripts of the gallery: python docs/make_eight_image.py."""

import runpy
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
IMAGES = {"eight": ("plot_figure_eight", -1), "warps": ("plot_goal_elsewhere", 0)}
"""Script, and which of its figures."""

if __name__ == "__main__":
    for name, (script, which) in IMAGES.items():
        plt.close("all")
        runpy.run_path(str(HERE.parent / "examples" / "gallery" / f"{script}.py"))
        plt.figure(plt.get_fignums()[which]).savefig(HERE / "images" / f"{name}.png", dpi=90 if which == 0 else 110)

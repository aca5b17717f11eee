"""docs/images/eight.png, by the script of the gallery: python docs/make_eight_image.py."""

import runpy
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent

if __name__ == "__main__":
    runpy.run_path(str(HERE.parent / "examples" / "gallery" / "plot_figure_eight.py"))
    plt.gcf().savefig(HERE / "images" / "eight.png", dpi=110)

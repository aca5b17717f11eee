"""make demo: from shuffled samples of a Duffing oscillator to its attractors and a stable field, with a picture.

python examples/demo.py [FOLDER]     the picture goes to FOLDER/duffing.png, by default out/duffing.png
"""

import sys
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt

import eigenwell as ew
from eigenwell.plotting import plot_embedding, plot_field, plot_samples, style


def main(folder: Path) -> None:
    demos = ew.systems.duffing.sample(seed=0).shuffled()
    print(demos)

    start = time.perf_counter()
    found = ew.identify(demos.x, demos.v)
    print(f"identified in {time.perf_counter() - start:.2f} s")
    print(found)

    start = time.perf_counter()
    field = ew.learn(found, progress=True)
    print(f"learned in {time.perf_counter() - start:.1f} s")
    print(field)

    with style():
        figure, (left, middle, right) = plt.subplots(1, 3, figsize=(15, 4.8), layout="constrained")
        plot_samples(demos, found, ax=left).set_title("6,006 unordered samples, sorted by attractor", pad=42)
        plot_embedding(found, 0, ax=middle).set_title("one sub-dynamics in its own coordinates", pad=42)
        plot_field(field, demos, found, ax=right).set_title("one learned field: basins, saddle, separatrix", pad=42)
        folder.mkdir(parents=True, exist_ok=True)
        figure.savefig(folder / "duffing.png", dpi=130)
    print(f"picture: {folder / 'duffing.png'}")
    certificate = field.certificate(samples=20, rates=(100.0,))
    print(certificate)
    if not certificate.holds:
        sys.exit(1)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("out"))

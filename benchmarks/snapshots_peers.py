"""Peers on the same snapshots: scVelo's end points, CellRank's terminal states, dynamo's stable points, Conley-Morse graphs.

python -m benchmarks.snapshots_peers [--peers NAME ...] [--seeds N] [--first SEED] [--picture FILE]

Each with its defaults and with every setting of a grid. An oracle that knows the answers chooses the one setting of the
grid that is right most often; beside it, how often any setting at all is right. The peers need older numerical libraries
than eigenwell's own extras, so install them in an environment of their own, where eigenwell runs as well:

pip install -e . scvelo cellrank dynamo-release cmgraph anndata matplotlib "numpy<2" "scipy<1.16" "statsmodels<0.14.3"
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import itertools
import logging
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import eigenwell as ew
from benchmarks.table import Row, report
from eigenwell import systems
from eigenwell.demonstrations import Demonstrations

# Attractors at rest only, in the plane: what every peer can name.
SYSTEMS = (
    systems.four_wells,
    systems.saddle,
    systems.toggle_switch,
    systems.five_wells,
    systems.unequal_wells,
    systems.duffing,
    systems.ghost,
)
SAMPLES, NOISES = 500, (0.0, 0.2, 0.4)
# Correlations of velocities with displacements mean nothing between two genes; a random turn into fifty changes no
# distance and no angle.
GENES = 50
Setting = dict[str, Any]
Count = Callable[[Setting], int]


def _cells(demos: Demonstrations, neighbours: int) -> Any:
    import anndata
    import scanpy

    d = demos.dimension
    loadings = np.linalg.qr(np.random.default_rng(0).standard_normal((GENES, d)))[0].T
    x, v = demos.x @ loadings, demos.v @ loadings
    cells = anndata.AnnData(x, layers={"Ms": x, "velocity": v}, obsm={"X_pca": demos.x, "velocity_pca": demos.v})
    scanpy.pp.neighbors(cells, n_neighbors=neighbours, use_rep="X_pca")
    return cells


def scvelo(demos: Demonstrations) -> Count:
    """End points: eigenvectors of the velocity-transition matrix whose eigenvalue is within eps of one."""
    import scvelo as scv
    from scvelo.tools.terminal_states import eigs

    @cache
    def transitions(neighbours: int) -> Any:
        cells = _cells(demos, neighbours)
        scv.tl.velocity_graph(cells, n_jobs=1, show_progress_bar=False)
        return scv.utils.get_transition_matrix(cells, self_transitions=False)

    return lambda s: eigs(transitions(s["neighbours"]), eps=s["eps"], perc=[2, 98], random_state=0)[1].shape[1]


def cellrank(demos: Demonstrations) -> Count:
    """Terminal states: macrostates of 0.8 velocity + 0.2 connectivity that are stabler than a threshold."""
    import cellrank as cr

    @cache
    def kernel(neighbours: int) -> Any:
        cells = _cells(demos, neighbours)
        moving = cr.kernels.VelocityKernel(cells).compute_transition_matrix(show_progress_bar=False, n_jobs=1)
        return 0.8 * moving + 0.2 * cr.kernels.ConnectivityKernel(cells).compute_transition_matrix()

    @cache
    def macrostates(neighbours: int, states: int | None) -> Any:
        estimator = cr.estimators.GPCCA(kernel(neighbours))
        estimator.compute_schur(20, method="brandts")
        estimator.compute_macrostates(n_states=states)
        return estimator

    def count(s: Setting) -> int:
        estimator = macrostates(s["neighbours"], s["states"])
        estimator.predict_terminal_states(stability_threshold=s["stability"])
        return len(estimator.terminal_states.cat.categories)

    return count


def dynamo(demos: Demonstrations) -> Count:
    """Stable fixed points of its sparse vector field, from random starts."""
    from dynamo.vectorfield import SvcVectorField

    @cache
    def fitted(lam: float, beta: float | None) -> Any:
        choice = {"lambda_": lam} | ({} if beta is None else {"beta": beta})
        field = SvcVectorField(demos.x, demos.v, **choice)
        field.train(normalize=False)
        return field

    def count(s: Setting) -> int:
        np.random.seed(0)
        field = fitted(s["lambda"], s["beta"])
        field.fixed_points = None
        places, kinds = field.get_fixed_points(n_x0=s["starts"])
        return int((np.asarray(kinds) == -1).sum()) if len(places) else 0

    return count


def cmgraph(demos: Demonstrations) -> Count:
    """Morse sets with nothing below them, of the map x -> x + step v on a grid, the images padded; both in cells."""
    import cmgraph as cm

    x, v = demos.x, demos.v
    low, high = x.min(axis=0) - 1e-6, x.max(axis=0) + 1e-6
    width = float((high - low).max())
    speed = float(np.median(np.linalg.norm(v, axis=1)))

    def count(s: Setting) -> int:
        cell = width / s["grid"]
        after = x + s["step"] * cell / speed * v
        model = cm.Model(
            bounds=np.stack([low, high], axis=1).tolist(),
            map=cm.BoxMapData(x.tolist(), after.tolist(), padding=[s["padding"] * cell] * x.shape[1]),
            grid=cm.Grid(size=[s["grid"]] * x.shape[1]),
            threads=1,
        )
        graph = model.morse_graph()
        nodes = range(len(graph.morse_sets()))
        return sum(not any(graph.reaches(p, q) for q in nodes if q != p) for p in nodes)

    return count


@dataclass(frozen=True)
class Peer:
    """`prepare` takes the samples and gives the number for a setting; the picture moves the last parameter of the grid."""

    name: str
    prepare: Callable[[Demonstrations], Count]
    default: Setting
    grid: dict[str, tuple[Any, ...]]

    @property
    def settings(self) -> list[Setting]:
        """The default first, then the grid."""
        every = [dict(zip(self.grid, values, strict=True)) for values in itertools.product(*self.grid.values())]
        return [self.default, *(s for s in every if s != self.default)]

    def numbers(self, demos: Demonstrations, settings: list[Setting]) -> list[int]:
        """The number for every setting; -1 where the peer fails."""
        silent = io.StringIO()
        with warnings.catch_warnings(), contextlib.redirect_stdout(silent), contextlib.redirect_stderr(silent):
            warnings.simplefilter("ignore")
            count = self.prepare(demos)
            return [_tried(count, s) for s in settings]


def _tried(count: Count, setting: Setting) -> int:
    try:
        return int(count(setting))
    except Exception as error:  # a peer's failure is a result
        logging.debug("%s: %s", setting, error)
        return -1


PEERS = (
    Peer(
        "scvelo",
        scvelo,
        {"neighbours": 30, "eps": 1e-3},
        {"neighbours": (10, 30), "eps": (1e-3, 1e-2, 3e-2, 0.1, 0.2)},
    ),
    Peer(
        "cellrank",
        cellrank,
        {"neighbours": 30, "states": None, "stability": 0.96},
        {"neighbours": (15, 30), "states": (None, 6), "stability": (0.8, 0.9, 0.96, 0.99)},
    ),
    Peer(
        "dynamo",
        dynamo,
        {"starts": 100, "lambda": 3.0, "beta": None},
        {"starts": (25, 100), "lambda": (0.03, 3.0), "beta": (0.3, 1.0, 3.0, 10.0)},
    ),
    Peer(
        "cmgraph",
        cmgraph,
        # It has no defaults; a middling choice of ours.
        {"step": 1.0, "padding": 0.5, "grid": 16},
        {"step": (0.5, 1.0, 2.0), "padding": (0.0, 0.5, 1.0), "grid": (8, 16, 32)},
    ),
)


def cases(seeds: range) -> list[tuple[systems.System, float, int]]:
    return [(system, noise, seed) for system in SYSTEMS for noise in NOISES for seed in seeds]


def measured(peer: Peer, seeds: range) -> tuple[Row, list[dict[str, Any]]]:
    """How often a peer is right by default, with the best setting for all cases, and with the best for each case."""
    kept, right = [], []
    for system, noise, seed in cases(seeds):
        start = time.process_time()
        numbers = peer.numbers(system.snapshots(SAMPLES, seed, noise=noise), peer.settings)
        right.append([n == len(system.attractors) for n in numbers])
        spent = time.process_time() - start
        kept.append({"system": system.name, "noise": noise, "seed": seed, "numbers": numbers, "seconds": spent})
    table = np.array(right)
    best = int(table.sum(axis=0).argmax())
    beside = (
        f"best of {table.shape[1]} settings by an oracle: {table[:, best].sum()} {peer.settings[best]}; some setting right: "
        f"{table.any(axis=1).sum()}"
    )
    row = Row(f"{peer.name}, defaults", "beside ours", f"{table[:, 0].sum()} of {len(table)}", beside, True)
    return row, kept


def ours(seeds: range) -> tuple[Row, list[dict[str, Any]]]:
    kept = []
    for system, noise, seed in cases(seeds):
        found = ew.identify(system.snapshots(SAMPLES, seed, noise=noise))
        right = found.n_attractors == len(system.attractors)
        kept.append(
            {"system": system.name, "noise": noise, "seed": seed, "right": right, "confidence": found.confidence}
        )
    hits = np.array([c["right"] for c in kept])
    return Row("eigenwell, which has no parameter", "above all", f"{hits.sum()} of {len(hits)}", "", True), kept


def picture(path: Path, seed: int) -> None:
    """How the number moves with the parameters of each peer on the same five wells, and ours beside it."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    demos = systems.five_wells.snapshots(SAMPLES, seed, noise=0.2)
    mine = ew.identify(demos).n_attractors
    known = [p for p in PEERS if importlib.util.find_spec(p.name)]
    figure, axes = plt.subplots(1, len(known), figsize=(3 * len(known), 2.8), sharey=True, squeeze=False)
    for ax, peer in zip(axes[0], known, strict=True):
        *others, moved = peer.grid
        values = peer.grid[moved]
        settings = [s for s in peer.settings if s[moved] in values]
        numbers = peer.numbers(demos, settings)
        for rest in dict.fromkeys(tuple(s[o] for o in others) for s in settings):
            line = {
                s[moved]: n
                for s, n in zip(settings, numbers, strict=True)
                if tuple(s[o] for o in others) == rest and n >= 0
            }
            ax.plot(
                [values.index(k) for k in sorted(line)], [line[k] for k in sorted(line)], "o-", color="0.55", lw=1, ms=3
            )
        ax.axhline(mine, color="tab:blue", lw=2)
        ax.set(title=peer.name, xlabel=moved, ylim=(-0.5, 20.5), xticks=range(len(values)), xticklabels=values)
    axes[0, 0].set_ylabel("number of attractors")
    figure.suptitle(
        f"Five wells, {SAMPLES} samples, 20 % noise. Blue: eigenwell. Grey: every setting of a peer", fontsize=10
    )
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", nargs="*", choices=[p.name for p in PEERS], default=[p.name for p in PEERS])
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--first", type=int, default=100)
    parser.add_argument("--picture", type=Path, help="draw how the numbers move with the parameters instead")
    options = parser.parse_args()
    seeds = range(options.first, options.first + options.seeds)
    if options.picture:
        picture(options.picture, options.first)
        return
    mine, our_cases = ours(seeds)
    for name in options.peers:
        peer = next(p for p in PEERS if p.name == name)
        if importlib.util.find_spec(name) is None:
            print(f"{name} is not installed")
            continue
        row, kept = measured(peer, seeds)
        report(f"snapshots-peer-{name}", [mine, row], cases=kept, ours=our_cases, settings=peer.settings)


if __name__ == "__main__":
    main()

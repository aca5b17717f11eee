"""Composites with more and more noise, beside what a user would pick instead; goes on where the last call ended.

python -m benchmarks.peers [--noise SHARE ...] [--methods NAME ...] [--seeds N] [--minutes M]

Peers take most of the time (the kernel graph tries twelve settings and looks at the truth, spectral clustering solves for
eigenvectors of thousands of samples), so that every answer is kept in benchmarks/results/peers.json as it comes.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import eigenwell as ew
from benchmarks.identify import oracle_kernel_graph, right
from eigenwell.demonstrations import Demonstrations
from eigenwell_paper import baselines

KEPT = Path(__file__).parent / "results" / "peers.json"
LEVELS = (0.0, 0.1, 0.2, 0.3)

Answers = dict[str, dict[str, dict[str, bool]]]
"""Method -> share of noise -> seed -> right."""


def told(demos: Demonstrations) -> int:
    return len(demos.truth.attractors)


METHODS: dict[str, Callable[[Demonstrations], bool]] = {
    "eigenwell": lambda d: right(d, ew.identify(d).labels),
    "spectral clustering told Q": lambda d: right(d, baselines.spectral_clustering(d, told(d))),
    "GMM told Q": lambda d: right(d, baselines.gaussian_mixture(d, told(d))),
    "HDBSCAN": lambda d: right(d, baselines.hdbscan(d)),
    "kernel graph by oracle": oracle_kernel_graph,
}


def missing(answers: Answers, methods: list[str], levels: list[float], n: int) -> list[tuple[int, float, str]]:
    return [
        (seed, noise, name)
        for seed in range(n)
        for noise in levels
        for name in methods
        if str(seed) not in answers.get(name, {}).get(f"{noise:g}", {})
    ]


def answered(methods: list[str], levels: list[float], n: int, minutes: float) -> tuple[Answers, int]:
    """All answers that are kept, after so many minutes of asking for those that were missing; and how many still are."""
    answers: Answers = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    stop = time.monotonic() + 60 * minutes
    todo = missing(answers, methods, levels, n)
    while todo and time.monotonic() < stop:
        seed, noise, name = todo.pop(0)
        demos = ew.datasets.composite(seed, noise=noise)
        answers.setdefault(name, {}).setdefault(f"{noise:g}", {})[str(seed)] = bool(METHODS[name](demos))
        KEPT.write_text(json.dumps(answers, indent=1) + "\n")
    return answers, len(todo)


def share(answers: Answers, name: str, noise: float, n: int) -> str:
    """Of the first n composites."""
    kept = [right for seed, right in answers.get(name, {}).get(f"{noise:g}", {}).items() if int(seed) < n]
    return f"{sum(kept)} of {len(kept)} = {100 * sum(kept) / max(len(kept), 1):.0f} %"


def table(answers: Answers) -> str:
    lines = []
    for name, levels in answers.items():
        cells = [f"noise {100 * float(k):g} %: {sum(v.values())} of {len(v)}" for k, v in sorted(levels.items())]
        lines.append(f"{name:28} {', '.join(cells)}")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--noise", nargs="+", type=float, default=list(LEVELS), help="of a step")
    parser.add_argument("--methods", nargs="+", choices=tuple(METHODS), default=list(METHODS))
    parser.add_argument("--seeds", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=4.0, help="stop after so long; call again to go on")
    chosen = parser.parse_args(arguments)
    answers, left = answered(chosen.methods, chosen.noise, chosen.seeds, chosen.minutes)
    print(table(answers))
    print(f"{left} left" if left else "all done")


if __name__ == "__main__":
    main()

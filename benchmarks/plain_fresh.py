"""More plain data, of other kinds than those that identification was mended on: to be run, not to be tuned on.

Other textbook systems, landscapes of three to eight minima, wells on surfaces in six and twelve dimensions, reaches through
via-points, recordings of very unequal length and rate, and data as files hold them: repeated recordings, rounded places, times
that jitter, velocities estimated from noisy positions, few samples, far from the origin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from scipy.interpolate import CubicHermiteSpline

from benchmarks import plain_sets as sets
from benchmarks.plain_sets import Case, Field, Paths
from eigenwell.demonstrations import Demonstrations
from eigenwell.systems import integrate


def _columns(x: np.ndarray) -> tuple[np.ndarray, ...]:
    return tuple(np.moveaxis(x, -1, 0))


def _rows(*columns: np.ndarray) -> np.ndarray:
    return np.stack(columns, axis=-1)


def _oscillators(x: np.ndarray) -> np.ndarray:
    a, b, va, vb = _columns(x)
    return _rows(va, vb, -a - 0.5 * (a - b) - 0.3 * va, -2 * b - 0.5 * (b - a) - 0.5 * vb)


def _glycolysis(x: np.ndarray) -> np.ndarray:
    a, b = _columns(x)
    return _rows(-a + 0.1 * b + a**2 * b, 1.2 - 0.1 * b - a**2 * b)


def _two_stage_switch(x: np.ndarray) -> np.ndarray:
    a, b = _columns(x)
    return _rows(a**4 / (0.5 + a**4) + 0.7 / (1 + b**4) - a, b**4 / (0.5 + b**4) + 0.7 / (1 + a**4) - b)


def _wilson_cowan(x: np.ndarray) -> np.ndarray:
    e, i = _columns(x)
    return _rows(-e + 1 / (1 + np.exp(-(12 * e - 8 * i - 3))), -i + 1 / (1 + np.exp(-(8 * e - 3 * i - 4))))


def _allee(x: np.ndarray) -> np.ndarray:
    n, m = _columns(x)
    return _rows(2 * n * (n - 0.3) * (1 - n) - 0.3 * n * (n - m), m * (0.6 * n - 0.5 * m) - 0.05 * m)


def _chemostat(x: np.ndarray) -> np.ndarray:
    s, y = _columns(x)
    grown = 2 * s * y / (0.4 + s + s**2)
    return _rows(0.8 * (1.5 - s) - grown, grown - 0.8 * y)


def _cart(x: np.ndarray) -> np.ndarray:
    """A mass between two magnets in the plane, in air: positions and velocities."""
    a, b, va, vb = _columns(x)
    return _rows(va, vb, a - a**3 - 0.8 * va, -1.5 * b - 0.6 * vb + 0.2 * a * b)


def _three_genes(x: np.ndarray) -> np.ndarray:
    others = x.sum(axis=-1, keepdims=True) - x
    return 2.2 * (0.2 + x**3) / (1 + x**3 + others**3) - x


SYSTEMS: dict[str, tuple[Field, list[float], list[float]]] = {
    "oscillators": (_oscillators, [-1, -1, -1, -1], [1, 1, 1, 1]),
    "glycolysis": (_glycolysis, [0.2, 0.2], [2.2, 2.2]),
    "two-stage switch": (_two_stage_switch, [0, 0], [2, 2]),
    "wilson-cowan": (_wilson_cowan, [0, 0], [1, 1]),
    "allee": (_allee, [0.05, 0.05], [1.2, 1.2]),
    "chemostat": (_chemostat, [0.1, 0.05], [1.5, 1.2]),
    "cart": (_cart, [-1.6, -1, -1, -1], [1.6, 1, 1, 1]),
    "three genes": (_three_genes, [0, 0, 0], [2.5, 2.5, 2.5]),
}


def fields(rng: np.random.Generator) -> Iterator[Case]:
    """Eight other systems, recorded for 4 to 12 decay times, in order and shuffled."""
    for name in SYSTEMS:
        for times in (4.0, float(rng.uniform(5, 12))):
            sampling = str(rng.choice(sets.SAMPLINGS))
            case = sets.recorded(rng, name, times, sampling, int(rng.choice([6, 12, 24])), SYSTEMS)
            yield replace(case, family="fields")
            yield replace(case, family="fields").shuffled(rng)


def landscapes(rng: np.random.Generator) -> Iterator[Case]:
    """Downhill in a landscape of three to eight Gaussian wells, unequally wide and deep, in two and three dimensions."""
    for d in (2, 2, 3):
        q = int(rng.integers(3, 9))
        centres = sets._places(rng, q, d, 0.55)
        width, depth = rng.uniform(0.16, 0.24, q), rng.uniform(0.6, 1.6, q)

        def field(x: np.ndarray, c=centres, w=width, h=depth) -> np.ndarray:
            e = x[..., None, :] - c
            pull = h / w**2 * np.exp(-(e**2).sum(-1) / (2 * w**2))
            return -(pull[..., None] * e).sum(axis=-2)

        paths, label = [], []
        for k in range(q):
            for _ in range(int(rng.integers(4, 12))):
                u = rng.standard_normal(d)
                start = centres[k] + 1.4 * width[k] * u / np.linalg.norm(u)
                states = integrate(field, start[None], 0.002, 3000)[:, 0]
                t, n = np.arange(len(states)) * 0.002, int(rng.integers(40, 120))
                end = rng.uniform(0.3, 1.0) * t[-1] if d == 2 else rng.uniform(0.6, 1.0) * t[-1]
                x = CubicHermiteSpline(t, states, field(states))(np.linspace(0, end, n))
                paths.append((x, field(x)))
                label.append(int(np.linalg.norm(centres - states[-1], axis=1).argmin()))
        _, label = np.unique(label, return_inverse=True)
        case = Case("landscapes", f"{label.max() + 1} minima {d}-D", paths, label)
        yield case
        yield case.shuffled(rng)


def surfaces(rng: np.random.Generator) -> Iterator[Case]:
    """Wells in a plane that lies in six or twelve dimensions, flat or bent."""
    for d in (6, 12):
        for bent in (0.0, 0.3):
            base = sets._wells(rng, 2, str(rng.choice(["node", "spiral", "unequal"])), int(rng.integers(2, 5)), 1e-3, 8)
            frame = np.linalg.qr(rng.standard_normal((d, 4)))[0]
            paths = []
            for x, v in base.paths:
                up = bent * np.stack([x[:, 0] ** 2, x[:, 0] * x[:, 1]], axis=1)
                dup = bent * np.stack([2 * x[:, 0] * v[:, 0], x[:, 0] * v[:, 1] + x[:, 1] * v[:, 0]], axis=1)
                paths.append((np.hstack([x, up]) @ frame.T, np.hstack([v, dup]) @ frame.T))
            case = replace(base, family="surfaces", name=f"{base.name} in {d}-D, bent {bent:g}", paths=paths)
            yield case
            yield case.shuffled(rng)


def hands(rng: np.random.Generator) -> Iterator[Case]:
    """Reaches: through via-points, of very unequal length and rate, with few samples, cut short and long."""
    for d in (2, 3):
        yield from _both(_via(rng, d, 0.01), rng)
        yield from _both(_unequal(rng, d, 0.01), rng)
        for n in (10, 18):
            yield _thin(rng, d, n)
    yield _curved(rng, 0.02)
    for share in (0.03, 0.1):
        yield _near_pair(rng, share)


def _both(case: Case, rng: np.random.Generator) -> Iterator[Case]:
    yield case
    yield case.shuffled(rng)


def _via(rng: np.random.Generator, d: int, scatter: float) -> Case:
    """Smooth through one or two via-points that all share, in full motion, to two or three goals."""
    q = int(rng.integers(2, 4))
    goals, via = sets._places(rng, q, d, 0.7), rng.uniform(-0.4, 0.4, (2, d))
    paths, label = [], []
    for k, goal in enumerate(goals):
        for _ in range(int(rng.integers(4, 9))):
            start, end = rng.uniform(-1.3, 1.3, d), goal + 2 * scatter * rng.standard_normal(d)
            knots = np.vstack([start, via[: 1 + k % 2] + 0.03 * rng.standard_normal((1 + k % 2, d)), end])
            n = int(rng.integers(70, 130))
            p, dp = sets._rise(np.linspace(0, 1, n))
            spline = _through_points(knots)
            seconds = rng.uniform(1, 3)
            paths.append((spline(p), spline(p, 1) * dp[:, None] / seconds))
            label.append(k)
    return Case("hands", f"{q} goals by way of others, {d}-D", paths, np.array(label))


def _through_points(knots: np.ndarray):  # type: ignore[no-untyped-def]
    from scipy.interpolate import CubicSpline

    length = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(knots, axis=0), axis=1))])
    return CubicSpline(length / length[-1], knots, bc_type="natural")


def _unequal(rng: np.random.Generator, d: int, scatter: float) -> Case:
    """Some start beside the goal and some far away, some in half a second, some in eight."""
    q = int(rng.integers(2, 5))
    goals = sets._places(rng, q, d, 0.6)
    paths, label = [], []
    for k, goal in enumerate(goals):
        for _ in range(int(rng.integers(4, 10))):
            u = rng.standard_normal(d)
            way = float(np.exp(rng.uniform(np.log(0.15), np.log(1.5))))
            start, end = goal + way * u / np.linalg.norm(u), goal + 2 * scatter * rng.standard_normal(d)
            seconds = float(np.exp(rng.uniform(np.log(0.5), np.log(8))))
            n = int(rng.integers(25, 60)) if way < 0.5 else int(rng.integers(60, 240))
            paths.append(sets._leg(start, end, 0.05 * way * rng.standard_normal(d), n, seconds))
            label.append(k)
    return Case("hands", f"{q} goals {d}-D, unequal ways and times", paths, np.array(label))


def _thin(rng: np.random.Generator, d: int, n: int) -> Case:
    case = sets._reaches(rng, int(rng.integers(2, 5)), d, 6, 0.01, rest=0, n=n)
    return replace(case, family="hands", name=f"{case.name}, {n} samples")


def _curved(rng: np.random.Generator, scatter: float) -> Case:
    """Around a corner, from everywhere to one of four bins in a row."""
    goals = np.array([[0.3 * k, 0.0] for k in range(4)])
    paths, label = [], []
    for k in range(28):
        goal = goals[k % 4] + scatter * rng.standard_normal(2)
        start = rng.uniform([-1, 1], [1.5, 1.6])
        paths.append(sets._leg(start, goal, np.array([0.0, 0.4]), 80, 1.5))
        label.append(k % 4)
    return Case("hands", "four bins in a row", paths, np.array(label))


def _near_pair(rng: np.random.Generator, scatter: float) -> Case:
    """Two goals eight spreads apart and a third far away, of unequal numbers of recordings."""
    gap = 8 * scatter
    goals, many = np.array([[0.0, 0.0], [gap, 0.0], [0.2, 1.6]]), (12, 5, 3)
    paths, label = [], []
    for k, (goal, each) in enumerate(zip(goals, many, strict=True)):
        for _ in range(each):
            u = rng.standard_normal(2)
            end = goal + scatter * np.clip(rng.standard_normal(2), -2, 2)
            paths.append(sets._leg(goal + 1.2 * u / np.linalg.norm(u), end, 0.1 * rng.standard_normal(2), 70, 1.5))
            label.append(k)
    return Case("hands", f"a near pair, scatter {scatter:g}", paths, np.array(label))


def measured(rng: np.random.Generator) -> Iterator[Case]:
    """As files hold them: repeated, rounded, at times that jitter, noisy, far from the origin, thinned, of mixed lengths."""
    bases = [
        sets.recorded(rng, "duffing", 8.0, "uniform", 10),
        sets.recorded(rng, "glycolysis", 8.0, "uniform", 10, SYSTEMS),
        sets._wells(rng, 2, "node", 3, 1e-3, 6),
        sets._reaches(rng, 3, 2, 6, 0.01, rest=10),
        sets._reaches(rng, 2, 3, 5, 0.0, rest=0),
    ]
    for base in bases:
        size = max(float(np.ptp(np.concatenate([x for x, _ in base.paths]), axis=0).max()), 1e-9)
        twice = rng.choice(len(base.paths), 2, replace=False)
        kinds: dict[str, Paths] = {
            "two recordings twice": [*base.paths, *(base.paths[k] for k in twice)],
            "rounded to 1/500": [(np.round(x / size * 500) * size / 500, v) for x, v in base.paths],
            "far from the origin": [(x + 1e5 * size, v) for x, v in base.paths],
            "every fifth sample": [(x[::5], v[::5]) for x, v in base.paths],
            "half cut short": [_cut(rng, x, v) if k % 2 else (x, v) for k, (x, v) in enumerate(base.paths)],
            "in kilometres and hours": [(x / 1e3, v / 1e3 * 3600) for x, v in base.paths],
        }
        for noise in (0.001, 0.005, 0.02):
            kinds[f"noise {100 * noise:g} % of the box, no velocities"] = _estimated(rng, base.paths, noise * size)
        for kind, paths in kinds.items():
            label = np.append(base.label, base.label[twice]) if "twice" in kind else base.label
            case = replace(base, family="measured", name=f"{base.name}: {kind}", paths=paths, label=label)
            mix = kind in ("rounded to 1/500", "far from the origin", "two recordings twice") and rng.random() < 0.5
            yield case.shuffled(rng) if mix else case


def _cut(rng: np.random.Generator, x: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Without up to half of its beginning: some recordings start late."""
    first = int(rng.uniform(0, 0.5) * len(x))
    return x[first:], v[first:]


def _estimated(rng: np.random.Generator, paths: Paths, noise: float) -> Paths:
    """Places with noise at times that jitter by a tenth of a step; velocities as `identify` estimates them."""
    places, times = [], []
    for x, v in paths:
        way, pace = np.linalg.norm(np.diff(x, axis=0), axis=1), np.linalg.norm((v[1:] + v[:-1]) / 2, axis=1)
        step = float(np.median(way[pace > 0] / pace[pace > 0])) if (pace > 0).any() else 1.0
        t = np.arange(len(x)) + 0.0
        asked = np.clip(t + 0.1 * rng.standard_normal(len(x)), 0, len(x) - 1)
        asked = np.maximum.accumulate(asked) + 1e-6 * t
        clean = np.stack([np.interp(asked, t, c) for c in x.T], axis=1)
        places.append(clean + noise * rng.standard_normal(x.shape))
        times.append(step * asked)
    demos = Demonstrations.of(places, time=times)
    spans = zip(demos.offsets[:-1], demos.offsets[1:], strict=True)
    return [(demos.x[a:b], demos.v[a:b]) for a, b in spans]


def bins(rng: np.random.Generator) -> Iterator[Case]:
    """Bins in a row, reached once each, which may as well be one goal along a line, or several times; recordings handed in again;
    two goals of which one is met far more exactly than the other, by many or by few."""
    count = int(rng.integers(5, 12))
    row = np.stack([np.linspace(-1, 1, count), np.zeros(count)], axis=1)
    for each in (1, 2, 4):
        case = sets._reaches(rng, count, 2, each, 0.005, rest=0, places=row, n=50)
        yield replace(case, family="bins", name=f"{count} in a row, {each} each", knowable=each > 1)
    once = sets._reaches(rng, 1, 2, 1, 0.0, rest=5)
    again = replace(once, paths=once.paths * 5, label=np.repeat(once.label, 5))
    yield replace(again, family="bins", name="one recording five times", knowable=False)
    for exact, loose in ((10, 10), (40, 3), (3, 40)):
        gap, paths = 12 * 0.03 * np.array([np.cos(count), np.sin(count)]), []
        for goal, scatter, each in ((0 * gap, 0.004, exact), (gap, 0.03, loose)):
            paths += sets._reaches(rng, 1, 2, each, scatter / 2, rest=0, places=goal[None], n=60).paths
        label = np.repeat([0, 1], [exact, loose])
        yield Case("bins", f"an exact and a loose goal, {exact} and {loose}", paths, label)


FAMILIES: dict[str, Callable[[np.random.Generator], Iterator[Case]]] = {
    "fields": fields,
    "landscapes": landscapes,
    "surfaces": surfaces,
    "hands": hands,
    "measured": measured,
    "bins": bins,
}

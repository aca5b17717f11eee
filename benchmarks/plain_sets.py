"""Plain data, as new users bring them: wells, textbook systems, reaches; clean or nearly clean, in every order and sampling.

Every case knows its number of attractors and the one of every sample. Where the data cannot tell (each goal visited once),
`knowable` is False: then an answer is not counted right or wrong, but it must not be sure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicHermiteSpline

from eigenwell.systems import integrate

Paths = list[tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Case:
    """Trajectories, the attractor of each of them, and whether they are given in order."""

    family: str
    name: str
    paths: Paths
    label: np.ndarray
    ordered: bool = True
    knowable: bool = True
    order: np.ndarray | None = None
    """Samples are given in this order, all in one; None: trajectories as they are."""

    @property
    def n_attractors(self) -> int:
        return int(self.label.max()) + 1

    @property
    def samples(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """x, v and label of every sample, in the order in which they are given."""
        x, v = (np.concatenate([p[k] for p in self.paths]) for k in (0, 1))
        label = np.repeat(self.label, [len(p[0]) for p in self.paths])
        return (x, v, label) if self.order is None else (x[self.order], v[self.order], label[self.order])

    def shuffled(self, rng: np.random.Generator) -> Case:
        n = sum(len(x) for x, _ in self.paths)
        return replace(self, name=f"{self.name}, shuffled", ordered=False, order=rng.permutation(n))


# --- wells ----------------------------------------------------------------------------------------------


def wells(rng: np.random.Generator) -> Iterator[Case]:
    """v = A (x - c) around far centres, stopped where exp(-t) is `left`: ends lie on a ring or an ellipse around c."""
    for d in (2, 3, 6):
        for form in ("node", "unequal", "spiral"):
            left = 10.0 ** rng.uniform(-6, -1)
            yield _wells(rng, d, form, int(rng.integers(1, 5)), left, int(rng.choice([3, 6, 15, 50])))
    for each in (50, 200):  # rings of very many ends
        yield _wells(rng, 2, "node", 2, np.exp(-5), each)
    yield _wells(rng, 2, "node", 2, 0.1, int(rng.choice([20, 100])))
    case = _wells(rng, 2, "spiral", 2, 0.02, 10)
    yield replace(case, name=case.name + ", dense", paths=_wells(rng, 2, "spiral", 2, 0.02, 10, samples=1000).paths)
    stragglers = _wells(rng, 2, "node", 2, 1e-5, 12)
    paths = list(stragglers.paths)
    for k in (0, 13):  # stop at a thousandth of the way
        x, v = paths[k]
        stop = int(np.argmax(np.linalg.norm(v, axis=1) < 1e-3 * np.linalg.norm(v[0])))
        paths[k] = x[:stop], v[:stop]
    yield replace(stragglers, name="two stragglers", paths=paths)


def _wells(rng: np.random.Generator, d: int, form: str, q: int, left: float, each: int, samples: int = 100) -> Case:
    while True:
        centres = rng.uniform(-1, 1, (q, d))
        gap = np.linalg.norm(centres[:, None] - centres, axis=2)[np.triu_indices(q, 1)].min(initial=2.0)
        if gap > 0.9:
            break
    rate = np.eye(d)
    if form == "unequal":
        rate = np.diag(np.geomspace(1, rng.uniform(2, 6), d))
    if form == "spiral":
        rate = (
            np.eye(d)
            + rng.uniform(1, 4) * np.triu(np.ones((d, d)), 1)
            - rng.uniform(1, 4) * np.tril(np.ones((d, d)), -1)
        )
        rate = np.eye(d) + (rate - rate.T) / 2
    t = np.linspace(0, -np.log(left), samples)
    value, vector = np.linalg.eig(rate)
    paths, label = [], []
    for k, c in enumerate(centres):
        for _ in range(each):
            u = rng.standard_normal(d)
            u *= 0.4 * rng.uniform(0.6, 1) * gap / np.linalg.norm(u) / 0.9
            decay = np.exp(-np.outer(t, value))
            e = np.real((decay[:, None, :] * vector) @ np.linalg.solve(vector, u.astype(complex)))
            paths.append((c + e, -e @ rate.T))
            label.append(k)
    return Case("wells", f"{q} {form} {d}-D, {left:.0e} left, {each} each", paths, np.array(label))


# --- textbook systems -----------------------------------------------------------------------------------

Field = Callable[[np.ndarray], np.ndarray]


def _rows(*columns: np.ndarray) -> np.ndarray:
    return np.stack(columns, axis=-1)


def _hopfield(x: np.ndarray) -> np.ndarray:
    patterns = np.array([[1, 1, -1, -1], [1, -1, 1, -1]])
    return -x + 1.5 * np.tanh(x) @ (patterns.T @ patterns / 2)


def _magnets(x: np.ndarray) -> np.ndarray:
    place, speed = x[..., :2], x[..., 2:]
    angle = 2 * np.pi * np.arange(3) / 3
    force = -0.2 * place - 0.6 * speed
    for a in angle:
        e = np.array([np.cos(a), np.sin(a)]) - place
        force = force + e / ((e**2).sum(-1, keepdims=True) + 0.1) ** 1.5
    return np.concatenate([speed, force], axis=-1)


def _three_wells(x: np.ndarray) -> np.ndarray:
    force = -0.3 * x
    for c in ([0.0, 1.2], [-1.1, -0.7], [1.1, -0.6]):
        e = x - c
        force = force - 2.5 * e * np.exp(-2 * (e**2).sum(-1, keepdims=True))
    return force


SYSTEMS: dict[str, tuple[Field, list[float], list[float]]] = {
    "duffing": (lambda x: _rows(x[..., 1], x[..., 0] - x[..., 0] ** 3 - 0.4 * x[..., 1]), [-2, -2], [2, 2]),
    "pendulum": (lambda x: _rows(x[..., 1], -2 * np.sin(x[..., 0]) - 0.5 * x[..., 1]), [-4, -3], [4, 3]),
    "toggle": (lambda x: 2.5 / (1 + np.abs(x[..., ::-1]) ** 3) - x, [0, 0], [3, 3]),
    "hopfield": (_hopfield, [-2] * 4, [2] * 4),
    "competition": (
        lambda x: _rows(
            x[..., 0] * (1 - x[..., 0] - 1.4 * x[..., 1]), 0.8 * x[..., 1] * (1 - x[..., 1] - 1.5 * x[..., 0])
        ),
        [0.05, 0.05],
        [1.3, 1.3],
    ),
    "lorenz": (
        lambda x: _rows(
            10 * (x[..., 1] - x[..., 0]),
            x[..., 0] * (10 - x[..., 2]) - x[..., 1],
            x[..., 0] * x[..., 1] - 8 / 3 * x[..., 2],
        ),
        [-8, -8, 2],
        [8, 8, 16],
    ),
    "excitable": (
        lambda x: _rows(x[..., 0] - x[..., 0] ** 3 / 3 - x[..., 1], 0.2 * (x[..., 0] + 0.9 - 0.6 * x[..., 1])),
        [-2, -1],
        [2, 1.5],
    ),
    "brusselator": (
        lambda x: _rows(1 - 2.5 * x[..., 0] + x[..., 0] ** 2 * x[..., 1], 1.5 * x[..., 0] - x[..., 0] ** 2 * x[..., 1]),
        [0.2, 0.5],
        [2.5, 3],
    ),
    "predator": (
        lambda x: _rows(
            x[..., 0] * (1 - x[..., 0] / 2) - x[..., 0] * x[..., 1] / (1 + x[..., 0]),
            x[..., 1] * (x[..., 0] / (1 + x[..., 0]) - 0.45),
        ),
        [0.3, 0.3],
        [2.2, 2],
    ),
    "three wells": (_three_wells, [-2, -2], [2, 2]),
    "magnets": (_magnets, [-1.5, -1.5, -1, -1], [1.5, 1.5, 1, 1]),
    "epidemic": (
        lambda x: _rows(0.1 - 2 * x[..., 0] * x[..., 1] - 0.1 * x[..., 0], 2 * x[..., 0] * x[..., 1] - 0.6 * x[..., 1]),
        [0.1, 0.01],
        [1, 0.5],
    ),
    "double well 1-D": (lambda x: x - x**3, [-1.8], [1.8]),
}
# Step of the integration, and the longest time that is recorded.
STEP, LONGEST = 0.01, 150.0
SAMPLINGS = ("uniform", "random", "solver", "rates")


def textbook(rng: np.random.Generator) -> Iterator[Case]:
    """Thirteen systems, each recorded for 3 to 12 of its own decay times after the transient, sampled in four ways."""
    for name in SYSTEMS:
        for times in (3.5, 6.0, 12.0):
            sampling = str(rng.choice(SAMPLINGS))
            case = recorded(rng, name, times, sampling, int(rng.choice([8, 20])))
            yield case
            yield case.shuffled(rng)


def recorded(
    rng: np.random.Generator,
    name: str,
    times: float,
    sampling: str,
    n: int,
    systems: dict[str, tuple[Field, list[float], list[float]]] = SYSTEMS,
) -> Case:
    """`n` solutions, each until `times` decay times after it came near the attractor it ends in."""
    field, low, high = systems[name]
    starts = rng.uniform(low, high, (n, len(low)))
    states = integrate(field, starts, STEP, round(LONGEST / STEP))
    settled = states[-1]
    size = float(np.linalg.norm(np.ptp(starts, axis=0)))
    label = _same(settled, 1e-2 * size)
    apart = [np.linalg.norm(a - b) for a in settled for b in settled if np.linalg.norm(a - b) > 1e-2 * size]
    near = 0.3 * min([size, *apart])
    tau = max(1 / abs(np.linalg.eigvals(_jacobian(field, e)).real).min() for e in settled)
    paths = []
    for k in range(n):
        away = np.flatnonzero(np.linalg.norm(states[:, k] - settled[k], axis=1) > near)
        end = min((away[-1] * STEP if len(away) else 0) + times * tau, LONGEST)
        samples = int(rng.integers(80, 250)) if sampling == "rates" else 150
        if sampling == "solver":
            t = solve_ivp(lambda _, y: field(y), (0, end), starts[k], rtol=1e-6, atol=1e-9, max_step=end / 60).t
        else:
            t = np.sort(rng.uniform(0, end, samples)) if sampling == "random" else np.linspace(0, end, samples)
        whole = np.arange(len(states)) * STEP
        x = CubicHermiteSpline(whole, states[:, k], field(states[:, k]))(t)
        paths.append((x, field(x)))
    return Case("systems", f"{name}, {times:g} decay times, {sampling}, {n}", paths, label)


def _jacobian(field: Field, x: np.ndarray) -> np.ndarray:
    h = 1e-6 * (1 + np.abs(x))
    return np.stack([(field(x + np.diag(h)[j]) - field(x - np.diag(h)[j])) / (2 * h[j]) for j in range(len(x))], axis=1)


def _same(places: np.ndarray, within: float) -> np.ndarray:
    label, seen = [], []
    for place in places:
        near = [k for k, other in enumerate(seen) if np.linalg.norm(place - other) < within]
        if not near:
            seen.append(place)
        label.append(near[0] if near else len(seen) - 1)
    return np.array(label)


# --- reaches --------------------------------------------------------------------------------------------


def _rise(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    s = np.clip(s, 0, 1)
    return s**3 * (10 - 15 * s + 6 * s**2), 30 * s**2 * (1 - s) ** 2


def _leg(
    start: np.ndarray, goal: np.ndarray, bend: np.ndarray, n: int, seconds: float
) -> tuple[np.ndarray, np.ndarray]:
    p, dp = (a[:, None] for a in _rise(np.linspace(0, 1, n)))
    via = (start + goal) / 2 + bend
    x = (1 - p) ** 2 * start + 2 * p * (1 - p) * via + p**2 * goal
    return x, (2 * (1 - p) * (via - start) + 2 * p * (goal - via)) * dp / seconds


def _places(rng: np.random.Generator, q: int, d: int, apart: float) -> np.ndarray:
    while True:
        out = rng.uniform(-1, 1, (q, d))
        if np.linalg.norm(out[:, None] - out, axis=2)[np.triu_indices(q, 1)].min(initial=9.0) > apart:
            return out


def reaches(rng: np.random.Generator) -> Iterator[Case]:
    """Minimum-jerk reaches with scatter, rests, pauses; to exact goals; there and back; through another goal; merging."""
    for scatter in (0.0, 0.005, 0.01, 0.02, 0.05):
        for d in (2, 3):
            q = int(rng.integers(1, 5))
            case = _reaches(rng, q, d, int(rng.integers(3, 11)), scatter, rest=int(rng.choice([0, 15])))
            yield case
            if scatter <= 0.02:
                yield case.shuffled(rng)
    yield _reaches(rng, 3, 2, 6, 0.01, rest=10, pause=20)
    for scatter in (0.0, 0.01):
        case = _there_and_back(rng, scatter)
        yield case
        yield case.shuffled(rng)
        yield _through(rng, scatter)
        yield _merging(rng, scatter)
    near = _reaches(rng, 2, 2, 130, 0.06 / 2, rest=0, places=np.array([[-0.36, 0.0], [0.36, 0.0]]), n=40)
    yield replace(near, name="260 recordings, " + near.name)


def _reaches(
    rng: np.random.Generator,
    q: int,
    d: int,
    each: int,
    scatter: float,
    *,
    rest: int,
    pause: int = 0,
    places: np.ndarray | None = None,
    n: int = 80,
) -> Case:
    goals = _places(rng, q, d, 0.5) if places is None else places
    paths, label = [], []
    for k, goal in enumerate(goals):
        for _ in range(each):
            start = rng.uniform(-1.2, 1.2, d)
            end = goal + 2 * scatter * rng.standard_normal(d)
            bend = 0.1 * rng.standard_normal(d)
            if pause:
                middle = (start + end) / 2 + bend
                legs = [
                    _leg(start, middle, 0 * bend, n // 2, 1.0),
                    _still(middle, pause),
                    _leg(middle, end, 0 * bend, n // 2, 1.0),
                ]
            else:
                legs = [_leg(start, end, bend, int(n * rng.uniform(0.7, 1.4)), rng.uniform(1, 3))]
            paths.append(_joined([*legs, *([_still(end, rest)] if rest else [])]))
            label.append(k)
    words = f"{q} goals {d}-D, {each} each, scatter {100 * scatter:g} %, rest {rest}" + (", pauses" if pause else "")
    return Case("reaches", words, paths, np.array(label))


def _still(place: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    return np.tile(place, (n, 1)), np.zeros((n, len(place)))


def _joined(legs: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    return np.concatenate([x for x, _ in legs]), np.concatenate([v for _, v in legs])


def _there_and_back(rng: np.random.Generator, scatter: float) -> Case:
    """Pick and place: from A to B, and from B to A, in turn."""
    a, b = _places(rng, 2, 2, 1.0)
    paths, label = [], []
    for k in range(12):
        ends = [p + 2 * scatter * rng.standard_normal(2) for p in ((a, b) if k % 2 == 0 else (b, a))]
        paths.append(_leg(*ends, 0.15 * rng.standard_normal(2), int(rng.integers(60, 110)), rng.uniform(1, 2)))
        label.append(1 if k % 2 == 0 else 0)
    return Case("reaches", f"there and back, scatter {100 * scatter:g} %", paths, np.array(label))


def _through(rng: np.random.Generator, scatter: float) -> Case:
    """Half of them run through the goal of the others, at full speed."""
    a, b = np.array([0.0, 0.0]), np.array([1.0, 0.3])
    paths, label = [], []
    for k in range(12):
        start = np.array([-1.0, 0.0]) + 0.3 * rng.standard_normal(2)
        goal = (a if k % 2 else b) + 2 * scatter * rng.standard_normal(2)
        bend = np.zeros(2) if k % 2 else a - (start + goal) / 2
        paths.append(_leg(start, goal, bend, 80, 1.5))
        label.append(k % 2)
    return Case("reaches", f"through another goal, scatter {100 * scatter:g} %", paths, np.array(label))


def _merging(rng: np.random.Generator, scatter: float) -> Case:
    """From two sides onto one way to the goal; another goal aside."""
    paths, label = [], []
    for k in range(15):
        goal = (np.array([1.0, 0.0]) if k % 3 else np.array([0.0, 1.2])) + 2 * scatter * rng.standard_normal(2)
        start = np.array([-1.0, 0.8 * (-1) ** k]) + 0.1 * rng.standard_normal(2)
        bend = np.array([-0.1, 0.0]) - (start + goal) / 2 if k % 3 else np.zeros(2)
        paths.append(_leg(start, goal, bend, 90, 1.5))
        label.append(min(k % 3, 1))
    return Case("reaches", f"merging, scatter {100 * scatter:g} %", paths, np.array(label))


# --- the same, treated as data are ------------------------------------------------------------------------


def treated(rng: np.random.Generator) -> Iterator[Case]:
    """Units of one column or of all, float32 at an offset, noise of some percent of a step, dropped samples."""
    bases = [
        recorded(rng, "duffing", 6.0, "uniform", 12),
        recorded(rng, "toggle", 6.0, "uniform", 12),
        recorded(rng, "lorenz", 6.0, "uniform", 12),
        _wells(rng, 2, "spiral", 3, 1e-3, 8),
        _reaches(rng, 3, 3, 6, 0.01, rest=10),
        _reaches(rng, 2, 2, 5, 0.01, rest=0),
    ]
    for base in bases:
        d = base.paths[0][0].shape[1]
        column = np.where(np.arange(d) == rng.integers(d), 100.0, 1.0)
        kinds = {
            "one column x 100": [(x * column, v * column) for x, v in base.paths],
            "all x 1000": [(1000 * x, 1000 * v) for x, v in base.paths],
            "float32 at 1000": [(np.float32(x + 1000.0), np.float32(v)) for x, v in base.paths],
            "noise 3 % of a step": [_noisy(rng, x, v, 0.03) for x, v in base.paths],
            "20 % dropped": [_dropped(rng, x, v, 0.2) for x, v in base.paths],
        }
        for kind, paths in kinds.items():
            case = replace(base, family="treated", name=f"{base.name}: {kind}", paths=paths)
            yield case if kind != "20 % dropped" and rng.random() < 0.5 else case.shuffled(rng)


def _noisy(rng: np.random.Generator, x: np.ndarray, v: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    step, speed = np.median(np.linalg.norm(np.diff(x, axis=0), axis=1)), np.median(np.linalg.norm(v, axis=1))
    return x + share * step * rng.standard_normal(x.shape), v + share * speed * rng.standard_normal(v.shape)


def _dropped(rng: np.random.Generator, x: np.ndarray, v: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    kept = np.sort(rng.choice(len(x), round((1 - share) * len(x)), replace=False))
    return x[kept], v[kept]


# --- cycles, kinds of data, and what nobody can know ------------------------------------------------------


OSCILLATORS: dict[str, Field] = {
    "Stuart-Landau": lambda x: x * (1 - (x**2).sum(axis=-1, keepdims=True)) + 2 * _rows(-x[..., 1], x[..., 0]),
    "van der Pol": lambda x: _rows(x[..., 1], (1 - x[..., 0] ** 2) * x[..., 1] - x[..., 0]),
}


def cycles(rng: np.random.Generator) -> Iterator[Case]:
    """Limit cycles sampled coarsely and finely, with noise, drawn circles, and an oscillation that hardly decays."""
    for per_turn in (14, 25, 60):
        n, turns = int(rng.integers(3, 9)), rng.uniform(3, 6)
        paths = []
        for _ in range(n):
            t = np.arange(0, turns, 1 / per_turn) * 2 * np.pi
            r0, phase = rng.uniform(0.3, 1.8), rng.uniform(0, 2 * np.pi)
            r = 1 / np.sqrt(1 + (1 / r0**2 - 1) * np.exp(-2 * t))
            dr = r - r**3
            u = np.stack([np.cos(t + phase), np.sin(t + phase)], axis=1)
            w = np.stack([-u[:, 1], u[:, 0]], axis=1)
            paths.append((r[:, None] * u, dr[:, None] * u + r[:, None] * w))
        yield Case("cycles", f"Stuart-Landau, {per_turn} a turn, {n}", paths, np.zeros(n, dtype=int))
    t = np.linspace(0, 3 * 2 * np.pi, 180)
    paths = []
    for _ in range(3):
        r = rng.uniform(0.95, 1.05) + 0.01 * np.cumsum(rng.standard_normal(len(t))) / np.sqrt(len(t))
        x = r[:, None] * np.stack([np.cos(t), np.sin(t)], axis=1) + 0.03 * rng.standard_normal(2)
        paths.append((x, np.gradient(x, t, axis=0)))
    yield Case("cycles", "a circle drawn three times", paths, np.zeros(3, dtype=int))
    for damping in (0.004, 0.02):
        paths = []
        for _ in range(5):
            t = np.linspace(0, 60, 1200)
            z = rng.uniform(0.5, 1.5) * np.exp((-damping + 1j) * t + 1j * rng.uniform(0, 6))
            dz = (-damping + 1j) * z
            paths.append((np.stack([z.real, z.imag], axis=1), np.stack([dz.real, dz.imag], axis=1)))
        yield Case("cycles", f"damping {damping}", paths, np.zeros(5, dtype=int), knowable=damping > 0.01)
    for name, field in OSCILLATORS.items():
        for noise in (0.003, 0.01, 0.02):
            n, step = int(rng.integers(3, 9)), rng.uniform(0.04, 0.1)
            paths = []
            for start in rng.uniform(-1.5, 1.5, (n, 2)):
                x = solve_ivp(lambda _, y, f=field: f(y), (0, 25), start, t_eval=np.arange(0, 25, step), rtol=1e-8).y.T
                x = x + noise * np.ptp(x) * rng.standard_normal(x.shape)
                paths.append((x, np.gradient(x, step, axis=0)))
            yield Case("cycles", f"{name}, {100 * noise:g} % noise, {n}", paths, np.zeros(n, dtype=int))


def kinds(rng: np.random.Generator) -> Iterator[Case]:
    """Scattered velocities along survey lines; strokes in whole pixels; a plane in six dimensions; a goal just outside."""

    def double(x: np.ndarray) -> np.ndarray:
        return _rows(x[..., 0] - x[..., 0] ** 3, -x[..., 1])

    angle = rng.uniform(0, np.pi)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    for lines in (12, 20):
        level = np.linspace(-1.5, 1.5, lines) + 0.02 * rng.standard_normal(lines)
        x = np.stack([rng.uniform(-1.8, 1.8, 60 * lines), np.repeat(level, 60)], axis=1)
        side = (x[:, 0] > 0).astype(int)
        yield _scattered("kinds", f"{lines} survey lines", x @ turn.T, double(x) @ turn.T, side)
    flat = rng.uniform(-1.8, 1.8, (400, 2))
    plane = np.linalg.qr(rng.standard_normal((6, 2)))[0]
    yield _scattered("kinds", "a plane in 6-D", flat @ plane.T, double(flat) @ plane.T, (flat[:, 0] > 0).astype(int))
    strokes = _reaches(rng, 2, 2, 5, 0.01, rest=0, n=60)
    pixels = [(np.round(150 * x + 300), 150 * v) for x, v in strokes.paths]
    yield replace(strokes, family="kinds", name="whole pixels", paths=pixels).shuffled(rng)
    whole = replace(strokes, family="kinds", name="whole pixels, in order", paths=pixels)
    yield whole
    x = rng.uniform(-1, 1, (400, 2))
    goal = np.array([1.05, 0.0])
    yield _scattered("kinds", "goal just outside", x, goal - x, np.zeros(400, dtype=int))


def _scattered(family: str, name: str, x: np.ndarray, v: np.ndarray, label: np.ndarray) -> Case:
    paths = [(x[label == k], v[label == k]) for k in range(label.max() + 1)]
    n = len(x)
    return Case(
        family, name, paths, np.arange(len(paths)), ordered=False, order=np.random.default_rng(n).permutation(n)
    )


def unknowable(rng: np.random.Generator) -> Iterator[Case]:
    """Goals visited once each, and one demonstration alone: right or wrong is luck, sure is a mistake."""
    for q in (6, 10, 16):
        yield replace(
            _reaches(rng, q, 2, 1, 0.0, rest=10, places=_places(rng, q, 2, 0.3)), family="once", knowable=False
        )
    yield replace(_reaches(rng, 14, 3, 1, 0.0, rest=0, places=_places(rng, 14, 3, 0.3)), family="once", knowable=False)
    yield replace(_reaches(rng, 1, 2, 1, 0.0, rest=10), family="once", name="one recording", knowable=False)


FAMILIES: dict[str, Callable[[np.random.Generator], Iterator[Case]]] = {
    "wells": wells,
    "systems": textbook,
    "reaches": reaches,
    "treated": treated,
    "cycles": cycles,
    "kinds": kinds,
    "once": unknowable,
}


def cases(seed: int, families: tuple[str, ...] = tuple(FAMILIES)) -> Iterator[Case]:
    from benchmarks.plain_fresh import FAMILIES as FRESH  # made of what is here

    for k, (name, make) in enumerate((FAMILIES | FRESH).items()):
        if name in families:
            yield from make(np.random.default_rng([seed, k]))

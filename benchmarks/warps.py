"""Warps: goals moved, things in the way, walls; does every promise hold, what does it cost, and what do others do.

Every loop is the user's own, x += dt * field.predict(x) at 100 Hz, from starts in the box of the data.

    moved      goals moved by 10, 25 and 50 % of the extent: who arrives, and V along roll-outs
    shape      a motion with its goal moved, against its demonstration through the affine map of start and goal; a DMP beside it
    around     1 to 6 balls across the demonstrations: who arrives, penetration, length of the way; the modulation of a
               field by its obstacles (Khansari-Zadeh and Billard, 2012) on the same scenes beside it
    within     random starts and pushes within walls: how many come out
    cost       making warps, predict through one of each, in Python and in C
    export     C and ONNX against NumPy

python -m benchmarks.warps [--parts moved shape ...] [--quick] [--cache FOLDER] [--name warps]
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.table import RESULTS, Row, report
from benchmarks.warp_fields import MEMORY, all_fields, shown
from eigenwell import metrics
from eigenwell.errors import DataError
from eigenwell.fields import Around, Field

PARTS = ("moved", "shape", "around", "within", "cost", "export")
DT = 0.01
CLOSE = 0.01
"""Arrived, in boxes."""
MOST = 20_000
Fields = Sequence[tuple[str, Field]]


def extent(field: Field) -> float:
    return float(np.linalg.norm(np.ptp(field.samples, axis=0)))


def starts(field: Field, rng: np.random.Generator, count: int) -> np.ndarray:
    middle = (field.samples.min(0) + field.samples.max(0)) / 2
    return middle + field.box / 2 * rng.uniform(-1, 1, (count, field.dimension))


def bodies(field: Field) -> list[Around]:
    return [one for one in field.warps if isinstance(one, Around)]


def gauge(one: Around, x: np.ndarray) -> np.ndarray:
    """How many sizes of a body each state is from its middle: 1 on its surface."""
    return np.asarray(one.gauge((x - one.centre).T)[0])


def depth(field: Field, x: np.ndarray) -> np.ndarray:
    """How deep each state is inside a body, as a share of its size; 0 outside."""
    inside = [1 - gauge(one, x) for one in bodies(field)]
    return np.maximum(np.max(inside, axis=0), 0.0)


def away(field: Field, x: np.ndarray) -> np.ndarray:
    """How far each state is from the nearest goal, in boxes."""
    return np.asarray(np.linalg.norm((x[:, None] - field.attractors) / field.box, axis=2).min(1))


def loop(
    field: Field, x: np.ndarray, velocity: Callable[[np.ndarray], np.ndarray] | None = None, most: int = MOST
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Who arrived, the deepest penetration and the length of the way of each; and the steps of the last."""
    step = field.predict if velocity is None else velocity
    x, going = x.copy(), np.arange(len(x))
    arrived, deepest, length = np.zeros(len(x), dtype=bool), np.zeros(len(x)), np.zeros(len(x))
    steps = 0
    while steps < most:
        steps += 1
        move = DT * step(x[going])
        x[going] += move
        length[going] += np.linalg.norm(move, axis=1)
        if field.warps and bodies(field):
            deepest[going] = np.maximum(deepest[going], depth(field, x[going]))
        near = away(field, x[going]) < CLOSE
        arrived[going[near]] = True
        going = going[~near]
        if len(going) == 0:
            break
    return arrived, deepest, length, steps


def displaced(field: Field, rng: np.random.Generator, share: float) -> Field:
    """All goals moved by a share of the extent, each its own way."""
    for _ in range(20):
        way = rng.standard_normal(field.attractors.shape)
        way *= share * extent(field) / np.linalg.norm(way, axis=1, keepdims=True)
        try:
            return field.moved(dict(enumerate(field.attractors + way)))
        except DataError as error:
            last = error
    raise last


def rolls(field: Field, x: np.ndarray) -> np.ndarray:
    """Share of the steps of roll-outs in which V rose."""
    duration = 2 * extent(field) / field.speed_limit
    ways = field.simulate(x, t=np.linspace(0, duration, 60), memory=False)
    heights = np.array([field.potential(way) for way in ways])
    return np.asarray(np.diff(heights, axis=1) > 1e-9 * heights[:, :1])


def moved_part(fields: Fields, count: int) -> list[Row]:
    rows = []
    for share in (0.1, 0.25, 0.5):
        total, there, rising, steps, refused, plain, true = 0, 0, 0, 0, 0, 0, 0
        for name, field in fields:
            rng = np.random.default_rng(0)
            try:
                other = displaced(field, rng, share)
            except DataError:
                refused += 1
                continue
            x = starts(field, rng, count)
            arrived = loop(other, x)[0]
            up = rolls(other, x[: max(4, count // 10)])
            late = x[~arrived]
            if len(late) or up.any():
                # Is it the warp, or Euler's rule on the learned field from the same places of its world?
                loops = int((~loop(field, other.map.learned_place(late))[0]).sum())
                solved = int(loop(other, late, lambda at, other=other: other.predict(at, DT))[0].sum())
                print(
                    "   ",
                    name,
                    share,
                    len(late),
                    "late;",
                    loops,
                    "without the warp;",
                    solved,
                    "told the step;",
                    int(up.sum()),
                    "rise",
                )
                plain, true = plain + loops, true + solved
            total, there = total + len(x), there + int(arrived.sum())
            rising, steps = rising + int(up.sum()), steps + up.size
        rows.append(
            Row(
                f"goals moved by {share:.0%} of the extent, {len(fields)} fields x {count} starts, loop on predict at 100 Hz",
                "100 % arrive; V' falls at every step",
                f"{there / total:.2%} arrive; V' rises at {rising} of {steps} steps; {refused} refused",
                f"of the {total - there} others {true} arrive in a loop on predict(x, dt), and {plain} are as late in a loop on "
                "the learned field, from the same places of its world",
                there == total and rising == 0 and refused == 0,
            )
        )
    return rows


def affine(x: np.ndarray, start: np.ndarray, goal: np.ndarray, new: np.ndarray) -> np.ndarray:
    """The affine map of least change that keeps the start and takes the goal to its new place."""
    way = goal - start
    return x + ((x - start) @ way / (way @ way))[:, None] * (new - goal)


def dmp(x: np.ndarray, dt: float, new: np.ndarray, basis: int = 40) -> np.ndarray:
    """A plain DMP of Ijspeert and others (2013), its forcing scaled by goal less start, fitted to one motion and rolled out."""
    k, damping, fade = 25.0 * 4, 20.0, 4.0
    n, total = len(x), dt * (len(x) - 1)
    v, a = np.gradient(x, dt, axis=0) * total, np.gradient(np.gradient(x, dt, axis=0), dt, axis=0) * total**2
    s = np.exp(-fade * np.arange(n) / (n - 1))
    centre = np.exp(-fade * np.linspace(0, 1, basis))
    width = 1 / np.append(np.diff(centre), np.diff(centre)[-1]) ** 2
    phi = np.exp(-width * (s[:, None] - centre) ** 2)
    phi = phi / phi.sum(1, keepdims=True) * s[:, None]
    force = np.linalg.lstsq(phi, a - k * (x[-1] - x) + damping * v, rcond=None)[0]
    old_way, new_way = x[-1] - x[0], new - x[0]
    scale = np.where(np.abs(old_way) > 1e-3 * np.ptp(x), new_way / old_way, 1.0)
    y, rate, h, out = x[0].copy(), np.zeros(x.shape[1]), 1 / (n - 1), [x[0]]
    for i in range(1, n):
        rate = rate + h * (k * (new - y) - damping * rate + scale * (phi[i - 1] @ force))
        y = y + h * rate
        out.append(y.copy())
    return np.array(out)


def shape_part(fields: Fields) -> list[Row]:
    """Of all motions, and of those whose affine map is well defined: one goal, and an open way, start and goal apart."""
    rows = []
    for share, bar in ((0.25, 0.03), (0.5, 0.06)):
        found = [one for name, field in fields if name in MEMORY for one in _shapes(name, field, share)]
        for what, chosen in (("all", found), ("open ways to one goal", [one for one in found if one[3]])):
            ours, theirs, own = (np.array([one[k] for one in chosen]) for k in range(3))
            rows.append(
                Row(
                    f"shape of {len(ours)} motions ({what}), the goal moved by {share:.0%}: distance / extent to the "
                    "demonstration mapped",
                    f"<= {bar}",
                    f"mean {ours.mean():.4f}, median {np.median(ours):.4f}, worst {ours.max():.4f}",
                    f"DMP {theirs.mean():.4f}, median {np.median(theirs):.4f}; goal where it was {own.mean():.4f}",
                    bool(ours.mean() <= bar),
                )
            )
    return rows


def _shapes(name: str, field: Field, share: float) -> list[tuple[float, float, float, bool]]:
    """Distance of the warped motion, of a DMP, of the motion with its goal where it was; and whether the way is open."""
    found, size = [], extent(field)
    for k, x in enumerate(shown(field)[:6]):
        q, rng = int(field.labels[(field.samples == x[0]).all(1)][0]), np.random.default_rng(k)
        goal, way = field.attractors[q], rng.standard_normal(field.dimension)
        new = goal + share * size * way / np.linalg.norm(way)
        wanted = _even(affine(x, x[0], goal, new))
        try:
            rolled = _followed(field.moved({q: new}), x[0], q)
        except DataError:
            continue
        ways = (rolled, wanted), (_even(dmp(x, DT, new)), wanted), (_followed(field, x[0], q), _even(x))
        ours, theirs, own = (metrics.dtw_rms(a, b) / size for a, b in ways)
        found.append((ours, theirs, own, field.n_attractors == 1 and float(np.linalg.norm(goal - x[0])) > 0.25 * size))
    print(f"    {name} {share}: {np.mean([one[0] for one in found]):.3f}, open {found[0][3]}")
    return found


def _followed(field: Field, start: np.ndarray, q: int) -> np.ndarray:
    lifted = field.lifted[q]
    duration = 4 * extent(field) / field.speed_limit
    for _ in range(6):
        way = lifted.simulate(np.append(start, 1.0), t=np.linspace(0, duration, 400))[:, :-1]
        if np.linalg.norm(way[-1] - field.attractors[q]) < 0.005 * extent(field):
            break
        duration *= 2
    return _even(way)


def _even(x: np.ndarray, points: int = 150) -> np.ndarray:
    """At even steps of its length."""
    along = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(x, axis=0), axis=1) + 1e-12)])
    at = np.linspace(0, along[-1], points)
    return np.column_stack([np.interp(at, along, column) for column in x.T])


def crowded(field: Field, rng: np.random.Generator, count: int) -> Field:
    """Some balls across the demonstrations; those that leave no room are drawn again."""
    other, placed = field, 0
    for _ in range(100):
        if placed == count:
            break
        i = rng.choice(np.flatnonzero((field.phases > 0.2) & (field.phases < 0.8)))
        radius = extent(field) * rng.uniform(0.03, 0.08)
        try:
            other = other.around(field.samples[i] + 0.3 * radius * rng.standard_normal(field.dimension), radius=radius)
            placed += 1
        except DataError:
            continue
    return other


def modulated(field: Field, other: Field) -> Callable[[np.ndarray], np.ndarray]:
    """The textbook way: eigenvalues 1 - 1/Gamma along the normal and 1 + 1/Gamma across, of one obstacle after another."""

    def velocity(x: np.ndarray) -> np.ndarray:
        v = field.predict(x)
        for one in bodies(other):
            away = x - one.centre
            gamma = np.maximum(gauge(one, x), 1e-3) ** 2
            normal = away / np.linalg.norm(away, axis=1, keepdims=True)
            radial = (v * normal).sum(1, keepdims=True) * normal
            v = (1 - 1 / gamma)[:, None] * radial + (1 + 1 / gamma)[:, None] * (v - radial)
        return np.asarray(v)

    return velocity


def around_part(fields: Fields, count: int) -> list[Row]:
    total, there, deep, ratio, plain_there, plain_deep, latent = 0, 0, [], [], 0, [], 0.0
    joined: list[bool] = []
    for k, (name, field) in enumerate(fields):
        rng = np.random.default_rng(k)
        other = crowded(field, rng, 1 + k % 6)
        x = starts(field, rng, 4 * count)
        x = x[np.all([gauge(one, x) > 1.01 for one in bodies(other)], axis=0)][:count]
        arrived, deepest, length, steps = loop(other, x)
        free = loop(field, x)
        ratio.append((length / np.maximum(free[2], 1e-9))[arrived & free[0] & (free[2] > 0.02 * extent(field))])
        rough = loop(other, x, modulated(field, other), 3 * steps)  # it may not arrive at all
        ways = other.simulate(
            x[: max(4, count // 10)], t=np.linspace(0, 2 * extent(field) / field.speed_limit, 200), memory=False
        )
        latent = max(latent, float(depth(other, ways.reshape(-1, field.dimension)).max()))
        total, there, plain_there = total + len(x), there + int(arrived.sum()), plain_there + int(rough[0].sum())
        deep.append(deepest.max())
        joined.append(any(len(one.centres) > 1 for one in bodies(other)))
        plain_deep.append(rough[1].max())
        print(
            f"    {name}: {arrived.mean():.1%} deepest {deepest.max():.2e}, modulation {rough[0].mean():.1%} {rough[1].max():.1e}"
        )
    ways_ = np.concatenate(ratio)
    apart = max((one for one, both in zip(deep, joined, strict=True) if not both), default=0.0)
    median, late = np.median(ways_), np.quantile(ways_, 0.95)
    scenes = f"1 to 6 balls across the demonstrations, {len(fields)} fields x {count} starts"
    return [
        Row(
            f"{scenes}: arrive, by a loop on predict at 100 Hz",
            "all but .1 %",
            f"{there / total:.2%} of {total}",
            f"modulation {plain_there / total:.2%}",
            there >= 0.999 * total,
        ),
        Row(
            f"{scenes}: deepest penetration, share of the radius; by roll-outs",
            "<= .001; 0",
            f"{apart:.1e} of balls apart, {max(deep):.1e} with some that overlap; {latent:.1e}",
            f"modulation {max(plain_deep):.2f}, median of the fields {np.median(plain_deep):.1e}",
            max(deep) <= 1e-3 and latent == 0,
        ),
        Row(
            f"{scenes}: way with balls over way without, median and 95 %",
            "<= 1.1, 1.5",
            f"{median:.3f}, {late:.3f}",
            "",
            bool(median <= 1.1 and late <= 1.5),
        ),
    ]


def within_part(fields: Fields, count: int) -> list[Row]:
    """Starts anywhere within walls 5 % outside the goals' and data's box, pushed three times to anywhere within them."""
    total = out = there = 0
    for name, field in fields:
        rng = np.random.default_rng(1)
        low, high = field.samples.min(0) - 0.05 * field.box, field.samples.max(0) + 0.05 * field.box
        other = field.within(low, high)
        x = rng.uniform(low, high, (count, field.dimension))
        outside = np.zeros(count, dtype=bool)
        for step in range(600):
            x = x + DT * other.predict(x)
            outside |= ((x <= low) | (x >= high)).any(1)
            if step in (50, 100, 150):
                x = rng.uniform(low, high, x.shape)
        ends = loop(other, x[: min(count, 50)])[0]
        if outside.any() or not ends.all():
            print("   ", name, int(outside.sum()), "outside;", int((~ends).sum()), "of", len(ends), "late")
        total, out, there = total + count, out + int(outside.sum()), there + ends.mean() / len(fields)
    return [
        Row(
            f"within walls, {total:,} random starts in {len(fields)} fields, each pushed three times",
            "0 outside",
            f"{out} outside; {there:.2%} of some arrive",
            "",
            out == 0,
        )
    ]


def everything(field: Field) -> Field:
    """One of each warp."""
    rng = np.random.default_rng(0)
    goals = {0: field.attractors[0] + 0.1 * extent(field) * np.eye(field.dimension)[0]}
    other = crowded(field.moved(goals), rng, 1)
    low = np.minimum(field.samples.min(0), other.attractors.min(0)) - 0.3 * field.box
    return other.within(low, np.maximum(field.samples.max(0), other.attractors.max(0)) + 0.3 * field.box)


def spent(call: Callable[[], object], times: int = 300) -> float:
    """Microseconds, the median of many."""
    call()
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        call()
        taken.append(time.perf_counter() - begin)
    return float(np.median(taken)) * 1e6


def cost_part(fields: Fields) -> list[Row]:
    chosen: dict[int, Field] = {}
    for _, field in fields:
        chosen.setdefault(field.dimension, field)
    timed = [_timed(d, field) for d, field in sorted(chosen.items())]
    making = [one for _, taken in timed for one in taken]
    slowest, words = max(making), ", ".join(f"{t:.0f}" for t in making)
    made = Row(
        "making a warp", "< 1000 us", f"slowest {slowest:.0f} us", f"moved, around, within: {words}", slowest < 1000
    )
    return [*(row for row, _ in timed), made]


def _timed(d: int, field: Field) -> tuple[Row, list[float]]:
    """Plain and warped, side by side; and what making each warp took."""
    from eigenwell.export import export_c

    other = everything(field)
    x, many = field.samples[len(field.samples) // 2] + 0.01, field.samples[:1000]
    one = spent(lambda: field.predict(x)), spent(lambda: other.predict(x))
    batch = spent(lambda: field.predict(many), 20), spent(lambda: other.predict(many), 20)
    goal = field.attractors[0] + 0.1 * extent(field)
    aside = field.attractors.mean(0) + field.box
    taken = [
        spent(lambda: field.moved({0: goal})),
        spent(lambda: field.around(aside, radius=0.01 * extent(field))),
        spent(lambda: field.within(field.samples.min(0) - 1, None)),
    ]
    with tempfile.TemporaryDirectory() as folder:
        c = [export_c(f, Path(folder) / "field.h").latency_us for f in (field, other)]
    row = Row(
        f"{d}-D: predict through one of each warp over plain; in C",
        "<= 2; <= 2",
        f"{one[1] / one[0]:.2f} ({one[0]:.0f} -> {one[1]:.0f} us); {c[1] / c[0]:.2f} ({c[0]:.2f} -> {c[1]:.2f} us)",
        f"1000 states at once {batch[1] / batch[0]:.2f}",
        max(one[1] / one[0], c[1] / c[0]) <= 2,
    )
    return row, taken


def export_part(fields: Fields) -> list[Row]:
    from eigenwell.export import export_c, export_onnx

    worst = {"C": 0.0, "ONNX": 0.0}
    chosen: dict[int, Field] = {}
    for _, field in fields:
        chosen.setdefault(field.dimension, field)
    for field in chosen.values():
        with tempfile.TemporaryDirectory() as folder:
            other = everything(field)
            worst["C"] = max(worst["C"], export_c(other, Path(folder) / "field.h").max_error)
            worst["ONNX"] = max(worst["ONNX"], export_onnx(other, Path(folder) / "field.onnx").max_error)
    said = ", ".join(f"{name} {value:.1e}" for name, value in worst.items())
    return [
        Row(
            f"C and ONNX against NumPy, all warps, {sorted(chosen)} dimensions",
            "1e-6",
            said,
            "",
            max(worst.values()) <= 1e-6,
        )
    ]


def among_others(name: str, done: list[Row]) -> list[Row]:
    """Rows in the place of those that say the same of an earlier run, which keeps the parts that were not run again."""
    file, new = RESULTS / f"{name}.json", {row.what: row for row in done}
    before = [Row(**row) for row in json.loads(file.read_text())["rows"]] if file.is_file() else []
    return [*(new.pop(row.what, row) for row in before), *new.values()]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="four fields, few starts")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--cache", type=Path, default=None, help="folder in which learned fields are kept")
    parser.add_argument("--name", default="warps", help="of the file in benchmarks/results")
    parser.add_argument("--starts", type=int, default=200, help="of loops in each field")
    options = parser.parse_args(arguments)
    fields = list(all_fields(options.quick, options.cache))
    count = 40 if options.quick else options.starts
    done: list[Row] = []
    parts: dict[str, Callable[[], list[Row]]] = {
        "moved": lambda: moved_part(fields, count),
        "shape": lambda: shape_part(fields),
        "around": lambda: around_part(fields, count),
        "within": lambda: within_part(fields, int(2.5 * count)),
        "cost": lambda: cost_part(fields),
        "export": lambda: export_part(fields),
    }
    for part in options.parts:
        done += parts[part]()
        report(options.name, among_others(options.name, done))


if __name__ == "__main__":
    main()

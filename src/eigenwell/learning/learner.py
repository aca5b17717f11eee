"""From an identification to a field: one map of all attractors, and where motions cross, the means to follow them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from .._types import FloatArray, IntArray
from ..demonstrations import Caution, DataError
from ..errors import missing_extra
from ..fields import Field, SecondOrderField, StableField
from ..fields.home import kept_home
from ..fields.stable import StableModel
from ..graphs import thinned
from ..progress import Progress, advance, told
from ..wording import plural
from . import doubts
from .clock import on_time
from .crossing import crossings
from .doubts import Motions
from .following import followed
from .guide import Guide, guide, no_guide
from .recipes import Recipe
from .sources import check_inside, embeddings_of, identified, learn_second_order, motions_of
from .targets import Bundle, LaplacianTarget, Target, UnitBox, lifted_bundle, phases_of
from .winding import SpiralTarget

if TYPE_CHECKING:
    from ..identification import Identification

Report = Callable[[int, int, FloatArray], None]
"""Called after every tenth of the steps as report(step, steps, losses), one loss per model."""
Watch = Callable[["Growing"], None]
"""Called with a part of the field after every tenth of its training."""

NODES_PER_PATH = 8
KEPT_SAMPLES = 50_000
"""Samples kept with a field: they tell what is far, and where motions start."""


@dataclass(frozen=True, eq=False)
class Growing:
    """A part of a field while it is trained.

    Attributes
    ----------
    name : str
        "map", "goals" or "lifted".
    fields : tuple of StableField
        The part, as far as it has come; only what is learned to its end is kept home.
    samples, labels, phases : arrays
        As in `Field`.
    loss : float
        Of the training, on average over the last tenth of its steps; NaN before the first.

    Examples
    --------
    >>> import eigenwell as ew
    >>> ew.learn(found, watch=lambda growing: print(growing.name))  # doctest: +SKIP
    """

    name: str
    fields: tuple[StableField, ...]
    samples: FloatArray
    labels: IntArray
    phases: FloatArray
    loss: float


@overload
def learn(
    data: Any,
    v: Any = None,
    *,
    found: Identification | None = None,
    dt: float | None = None,
    time: Any = None,
    toward: bool | None = None,
    memory: bool | None = None,
    low: Any = None,
    high: Any = None,
    target: Target | None = None,
    recipe: Recipe | None = None,
    seed: int = 0,
    dtype: Any = np.float32,
    progress: bool | Progress = False,
    watch: Watch | None = None,
    order: Literal[1] = 1,
) -> Field: ...


@overload
def learn(
    data: Any,
    v: Any = None,
    *,
    found: Identification | None = None,
    dt: float | None = None,
    time: Any = None,
    order: Literal[2],
) -> SecondOrderField: ...


def learn(
    data: Any,
    v: Any = None,
    *,
    found: Identification | None = None,
    dt: float | None = None,
    time: Any = None,
    toward: bool | None = None,
    memory: bool | None = None,
    low: Any = None,
    high: Any = None,
    target: Target | None = None,
    recipe: Recipe | None = None,
    seed: int = 0,
    dtype: Any = np.float32,
    progress: bool | Progress = False,
    watch: Watch | None = None,
    order: Literal[1, 2] = 1,
) -> Field | SecondOrderField:
    """Learn one continuous field with exactly the attractors that were found, stable by construction.

    Parameters
    ----------
    data, v, dt, time
        An Identification or DistributedIdentification; or what `identify` takes, which is then called first.
    found : Identification, optional
        What was found in `data`, where these are demonstrations; it is checked that they belong together.
        `learn(demos, found)` works too.
    toward : bool, optional
        Also train a field for each attractor alone, for `field.toward(goal)`. By default where sub-dynamics cross;
        otherwise `toward` uses the coordinates of the map.
    memory : bool, optional
        Also train the motions, for `field.motion(x0)`. False: the map alone, in half the time.
    low, high : float or (d,) array, optional
        Walls that no state passes, as `field.within`: gene levels are not negative, joints have limits.
    target, recipe : Target, Recipe, optional
        Where paths go in the latent space (default `SpiralTarget()`), and how to train (default `Recipe()`;
        `recipes.PAPER` is the paper's).
    seed : int
        Of the training.
    dtype : type
        float32 or float64, of the training alone.
    progress : bool or callable
        True prints how far it is; a function is called as progress("learning", step, steps).
    watch : callable, optional
        Called with what was learned so far, a `Growing`, before a part's first step and after every tenth of them: to
        look on, or to draw it.
    order : int
        2 gives a SecondOrderField of states (q, qdot) from recordings of q with time: passive, its first half qdot.

    Returns
    -------
    Field
        Doubts are in `.warnings`, and `.fit` says how well it follows the data. Learned from poses, `.poses` gives
        twists and unit quaternions.

    Raises
    ------
    DataError
        When there is nothing to learn, or `found` belongs to other data.
    MissingExtra
        When JAX is not installed.

    Examples
    --------
    >>> import eigenwell as ew
    >>> field = ew.learn(ew.identify(ew.systems.heart.sample(seed=0)))  # doctest: +SKIP
    """
    if order not in (1, 2):
        raise DataError(f"Expected order 1 or 2, got {order!r}.")
    given = {"toward": toward, "memory": memory, "low": low, "high": high, "target": target, "recipe": recipe}
    if order == 2 and (names := [name for name, value in given.items() if value is not None]):
        raise DataError(f"Expected order=2 alone, which is one least-squares fit, got {' and '.join(names)} besides.")
    found = identified(data, v, found, dt, time)
    if found.n_attractors == 0:
        raise DataError(
            "Expected at least one sub-dynamics to learn, got an identification without any. See found.warnings; "
            "samples may be too few or too noisy to form trajectories."
        )
    points = [q for q, kind in enumerate(found.kinds) if kind == "point"]
    if not points:
        raise DataError(
            f"Expected an attractor at a point, got {plural(found.n_attractors, 'cycle')}. A field that rests cannot follow a "
            "motion that goes round for ever; found.located has the cycles' curves and periods."
        )
    if order == 2:
        return learn_second_order(found, points)
    walls = low is not None or high is not None
    if walls:
        check_inside(found.demos.x, low, high)
    motions = motions_of(found, points)
    lost = [q for q, paths in zip(points, motions, strict=True) if not paths]
    if lost:
        raise DataError(
            f"Expected paths to every attractor, got none to {lost}: too few samples end there. Give more of them."
        )
    with told(progress):
        field = learn_motions(
            motions,
            found.attractors[points],
            embeddings=embeddings_of(found, points) if isinstance(target, LaplacianTarget) else None,
            warnings=(*found.warnings, *doubts.about_cycles(found.kinds)),
            toward=toward,
            memory=memory,
            target=target,
            recipe=recipe,
            seed=seed,
            dtype=dtype,
            watch=watch,
        )
    field = replace(field, chart=found.demos.chart)
    return field.within(low, high) if walls else field


def learn_motions(
    motions: Motions,
    attractors: FloatArray,
    *,
    embeddings: Sequence[Sequence[FloatArray]] | None = None,
    warnings: Sequence[Caution] = (),
    toward: bool | None = None,
    memory: bool | None = None,
    target: Target | None = None,
    recipe: Recipe | None = None,
    seed: int = 0,
    dtype: Any = np.float32,
    watch: Watch | None = None,
) -> Field:
    """The field of some motions, each given as its paths (x, v), and their attractors (Q, d): what `learn` assembles."""
    recipe = Recipe() if recipe is None else recipe
    attractors = np.asarray(attractors, dtype=np.float64)
    frame = UnitBox.around(motions)
    together = [Bundle.of(paths, place, frame=frame) for paths, place in zip(motions, attractors, strict=True)]
    _check_apart(together)
    met = crossings(together)
    between = any(one.first != one.second for one in met)
    several = len(motions) > 1
    toward = several and (between if toward is None else toward)
    alone = [
        Bundle.of(paths, place, None if embeddings is None else embeddings[q])
        for q, (paths, place) in enumerate(zip(motions, attractors, strict=True))
    ]
    # One box for all parts: what keeps the map home keeps the motions there too.
    options = {"target": target, "seed": seed, "dtype": dtype, "box": _box(together)}
    # Fewer than d + 1 paths predict their own pieces along a line, and say nothing of what lies beside it.
    enough = sum(map(len, motions)) > together[0].dimension
    asked = enough and not met and recipe.velocity and recipe.guide > 0
    known = guide(together, seed=seed) if asked else no_guide(together)
    smooth = known.smooth
    fitting = recipe.for_field() if smooth else recipe.for_motions(several)
    single = recipe.for_motions()
    memory = memory is not False
    planned, begun = fitting.steps + single.steps * (toward + memory), 0
    kept = _kept(motions, attractors)
    failed: tuple[Caution, ...] = ()

    def part(
        name: str, groups: Sequence[Bundle | Sequence[Bundle]], how: Recipe, guides: list[Guide] | None = None
    ) -> tuple[StableField, ...]:
        nonlocal failed, begun
        look = None if watch is None else lambda fields, loss: watch(Growing(name, fields, *kept, loss))
        fields, more = learn_bundles(
            groups,
            guides=guides,
            recipe=how,
            report=lambda step, *_: advance("learning", begun + step, planned),
            watch=look,
            **options,
        )
        failed, begun = failed + more, begun + how.steps
        return fields

    # Where motions cross they are what is followed: first, so that whoever looks on sees them first.
    lifted = part("lifted", [lifted_bundle(bundle, recipe.lift) for bundle in alone], single) if memory else ()
    field = Field(part("map", [together if several else alone], fitting, [known])[0], (), lifted, *kept)
    if toward:
        field = replace(field, goals=part("goals", alone, single))
    fits = [followed(field, motions, memory=with_memory) for with_memory in ((False, True) if memory else (False,))]
    map_fit, fit = fits[0], min(fits, key=lambda one: (-one.arrives, one.distance))
    cautions = doubts.about_repeats(motions) + [
        caution for q, bundle in enumerate(alone) for caution in doubts.about_data(bundle, f"Sub-dynamics {q}")
    ]
    cautions += doubts.about_crossings(met, memory) + doubts.about_fit(fit) + doubts.about_loops(field, motions, seed)
    return replace(field, fit=fit, map_fit=map_fit, warnings=(*warnings, *cautions, *failed))


def learn_bundles(
    groups: Sequence[Bundle | Sequence[Bundle]],
    *,
    guides: Sequence[Guide] | None = None,
    target: Target | None = None,
    recipe: Recipe | None = None,
    seed: int = 0,
    dtype: Any = np.float32,
    box: tuple[FloatArray, FloatArray] | None = None,
    report: Report | None = None,
    watch: Callable[[tuple[StableField, ...], float], None] | None = None,
) -> tuple[tuple[StableField, ...], tuple[Caution, ...]]:
    """One stable field per group of bundles in one frame, all in one compiled program; and doubts about the training.

    Groups have as many bundles each.

    `guides`: what is known between the paths of each group, made here where not given. `report` is called after every
    tenth of the steps as report(step, steps, losses). `box`: low and high of the data that fields keep to, by default their own.
    """
    try:
        from .training import train, training_set
    except ImportError as error:
        raise missing_extra("Learning a field", "JAX", "learn") from error
    recipe = Recipe() if recipe is None else recipe
    target = SpiralTarget() if target is None else target
    sets_of = [[one] if isinstance(one, Bundle) else list(one) for one in groups]
    # A few samples of every trajectory, however many there are.
    most = max(sum(len(bundle.x) for bundle in group) for group in sets_of)
    count = max(3 * recipe.batch, NODES_PER_PATH * most)
    if guides is None:
        guides = [guide(group, seed=seed) if recipe.guide > 0 else no_guide(group) for group in sets_of]
    sets = [
        training_set(group, target, recipe, between, count=count, seed=seed)
        for group, between in zip(sets_of, guides, strict=True)
    ]

    def field_of(model: StableModel, group: Sequence[Bundle]) -> StableField:
        frame = group[0].frame
        brake = frame.scale / (recipe.fastest * max(bundle.top_speed for bundle in group))
        braked = model._replace(brake=np.where(frame.braked, brake, 0.0))
        return StableField(braked, frame.centre, frame.scale, frame.pace)

    sound = True
    for step, models, losses in train(sets, recipe, seed=seed, dtype=dtype):
        fields = tuple(field_of(model, group) for model, group in zip(models, sets_of, strict=True))
        sound &= step == 0 or bool(np.isfinite(losses).all())
        if watch is not None:
            # Not kept home yet: that takes as long as the tenth of the training that it would show.
            watch(fields, float(losses.mean()))
        if report is not None and step > 0:
            report(step, recipe.steps, losses)
    unsound = Caution("training-unsound", "Training met values that are not finite; those steps were left out.")
    kept = []
    for field, group, known in zip(fields, sets_of, sets, strict=True):
        if sound and recipe.velocity and not known.known.winding.any():
            field = on_time(field, group, count=count, haste=recipe.haste)
        kept.append(kept_home(field, *(_box(group) if box is None else box)))
    return tuple(kept), () if sound else (unsound,)


def _box(group: Sequence[Bundle]) -> tuple[FloatArray, FloatArray]:
    """Of the data and the goals, in their units, without a phase."""
    frame = group[0].frame
    n = int(frame.braked.sum())
    x = np.concatenate([*(x for bundle in group for x in bundle.x), *(bundle.attractor[None] for bundle in group)])
    x = frame.centre + frame.scale * x
    return x.min(0)[:n], x.max(0)[:n]


def _check_apart(bundles: Sequence[Bundle]) -> None:
    """Attractors that coincide cannot be told apart by any field."""
    places = np.stack([bundle.attractor for bundle in bundles])
    distance = np.linalg.norm(places[:, None] - places, axis=2) + np.diag(np.full(len(places), np.inf))
    first, second = np.unravel_index(int(distance.argmin()), distance.shape)
    if distance[first, second] < 1e-6:
        raise DataError(
            f"Expected attractors at different places, got {first} and {second} at the same one. Give their samples one "
            "label, or identify them again."
        )


def _kept(motions: Motions, attractors: FloatArray) -> tuple[FloatArray, IntArray, FloatArray]:
    """Samples of the paths with label and phase, thinned where there are very many; starts and ends are always kept."""
    total = sum(len(x) for paths in motions for x, _ in paths)
    step = max(1, -(-total // KEPT_SAMPLES))
    samples, labels, phases = [], [], []
    for q, paths in enumerate(motions):
        for x, _ in paths:
            index = thinned(len(x), step)
            samples.append(np.asarray(x, dtype=np.float64)[index])
            phases.append(phases_of(x, attractors[q])[index])
            labels.append(np.full(len(index), q, dtype=np.intp))
    return np.concatenate(samples), np.concatenate(labels), np.concatenate(phases)

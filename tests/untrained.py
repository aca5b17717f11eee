"""Fields without training, for what shows or carries one: any numbers make a stable field; and exports without long comparing."""

import numpy as np

from eigenwell.fields import Field, Fit, Followed, Speed, StableField, StableModel
from eigenwell.fields.flows import identity_flow


def stable_field(attractors, centre=0.0, scale=1.0, *, bend=0.0, seed=0):
    """A stable field at the attractors (Q, d), psi the identity or bent by random numbers of some size."""
    attractors = np.atleast_2d(np.asarray(attractors, dtype=float))
    count, d = attractors.shape
    rng = np.random.default_rng(seed)
    flow = identity_flow(d, layers=4, features=8, length=0.5, window=1.0, seed=seed)
    draw = np.random.default_rng(seed).standard_normal(flow.frequencies.shape)
    flow = flow._replace(
        frequencies=draw / (0.5 * np.sqrt(draw.shape[-1])), weights=bend * rng.standard_normal(flow.weights.shape)
    )
    speed = Speed(rng.standard_normal((4, d)), np.zeros(8), np.zeros(()), np.ones(()))
    centre, scale = np.broadcast_to(centre, d).astype(float), np.broadcast_to(scale, d).astype(float)
    unit = (attractors - centre) / scale
    model = StableModel(
        flow, speed, unit, np.zeros(count), np.zeros((count, d, d)), np.full(count, 0.02), np.full(d, 0.2)
    )
    return StableField(model, centre, scale, 1.0)


def learned_field(attractors, samples, labels, phases, *, memory=False, good=True, bend=0.0, seed=0):
    """A Field as `learn` returns it, with its fit made up: 1 % off, or one demonstration 30 % off."""
    samples = np.asarray(samples, dtype=float)
    centre, scale = samples.mean(0), np.ptp(samples, axis=0)
    rows = [
        Followed(f"demonstration {k} (to attractor {q})", int(q), 0.01, 0.001, 0.02, True)
        for k, q in enumerate(labels[phases == 1])
    ]
    if not good:
        rows[-1] = Followed(rows[-1].name, rows[-1].goal, 0.3, 0.2, 0.5, False)
    lifted = ()
    if memory:
        where = {"centre": np.append(centre, 0.5), "scale": np.append(scale, 1.0), "bend": bend, "seed": seed}
        lifted = tuple(stable_field(np.append(place, 0.0), **where) for place in attractors)
        # Speed is limited in space alone, as `learn` has it.
        lifted = tuple(
            StableField(one.model._replace(brake=np.append(one.model.brake[:-1], 0.0)), one.centre, one.scale, 1.0)
            for one in lifted
        )
    fit = Fit(tuple(rows), "motion" if memory else "map")
    one = stable_field(attractors, centre, scale, bend=bend, seed=seed)
    return Field(one, (), lifted, samples, np.asarray(labels), np.asarray(phases), fit, fit)


def field_of(found, **more):
    """A field of what was found, with its samples and phases."""
    demos = found.demos
    samples, labels, phases = [], [], []
    for q in range(found.n_attractors):
        for path in found.paths(q):
            samples.append(demos.x[path])
            labels.append(np.full(len(path), q))
            phases.append(np.linspace(1.0, 0.0, len(path)))
    return learned_field(found.attractors, *map(np.concatenate, (samples, labels, phases)), **more)


FEW = {"STATES": 1000, "MOTIONS": 50, "LOOPS": 10, "ADVANCED": 20}


def compared_little(setattr):
    """Where only the file of an export is wanted: it is compared at a tenth of the usual states and in few loops, by a program
    that is compiled quickly."""
    from eigenwell.export import c_header, parity

    for name, few in FEW.items():
        setattr(parity, name, few)
    setattr(c_header, "FLAGS", tuple(flag for flag in c_header.FLAGS if flag != "-O2"))

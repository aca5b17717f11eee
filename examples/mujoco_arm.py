"""A seven-joint arm in MuJoCo: within its joint limits, pushed, round a ball, and to a goal that moves.

    pip install "eigenwell[learn,sim]"
    python examples/mujoco_arm.py [--film arm.gif]

Two fields are learned, each once. One lives in the seven joint angles; it is put within the joint limits, and somebody pushes
the arm. The other lives where the tip is, in three coordinates; it is taken round a ball and to a goal that moves, and a damped
inverse of the Jacobian turns its velocities into those of joints. Torques come from a plain controller at every joint.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import mujoco
import numpy as np
from matplotlib.animation import FuncAnimation, PillowWriter

import eigenwell as ew

AXES = ("0 0 1", "0 1 0", "0 0 1", "0 1 0", "0 0 1", "0 1 0", "0 0 1")
LENGTHS = (0.25, 0.2, 0.2, 0.2, 0.2, 0.12, 0.1)
GAIN = np.array([40, 40, 30, 30, 15, 10, 5])  # Nm of torque for each rad/s that is missing
EVERY = 5  # steps of the simulation between two commands: 100 Hz
START = np.array([0.0, -0.5, 0.0, 1.2, 0.0, 0.6, 0.0])
GOALS = np.array([[1.2, 0.6, 0.2, 1.0, 0.3, 0.8, 0.5], [-1.2, 0.5, -0.3, 1.3, 0.0, 0.4, -0.5]])
Command = Callable[[float, "mujoco.MjData"], np.ndarray]


def model() -> mujoco.MjModel:
    """Seven links in a chain, each turning about its own axis, with a motor at every joint."""
    opened = "".join(
        f'<body name="link{k}" pos="0 0 {LENGTHS[k - 1] if k else 0}"><joint name="joint{k}" axis="{axis}" damping="0.4" '
        f'armature="0.05"/><geom type="capsule" size="0.035" fromto="0 0 0 0 0 {length}" mass="{1.6 - 0.2 * k:.1f}"/>'
        for k, (axis, length) in enumerate(zip(AXES, LENGTHS, strict=True))
    )
    tip = f'<site name="tip" pos="0 0 {LENGTHS[-1]}"/>'
    motors = "".join(f'<motor joint="joint{k}"/>' for k in range(7))
    return mujoco.MjModel.from_xml_string(
        '<mujoco><option timestep="0.002" integrator="implicitfast"/><default><geom contype="0" conaffinity="0"/></default>'
        f"<worldbody>{opened}{tip}{'</body>' * 7}</worldbody><actuator>{motors}</actuator></mujoco>"
    )


ARM = model()


def follow(
    command: Command, q: np.ndarray, seconds: float, push: tuple[float, float, np.ndarray] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Joint angles (n, 7) and places of the links (n, 8, 3), every 10 ms: torque = gravity + gain * (velocity missing)."""
    data = mujoco.MjData(ARM)
    data.qpos[:] = q
    angles, links = [], []
    for step in range(round(seconds / ARM.opt.timestep)):
        now = step * ARM.opt.timestep
        mujoco.mj_forward(ARM, data)
        data.xfrc_applied[:] = 0
        if push and push[0] <= now < push[1]:
            data.xfrc_applied[5, :3] = push[2]  # newton, on the fifth link
        if step % EVERY == 0:
            asked = command(now, data)
            angles.append(data.qpos.copy())
            links.append(np.vstack([data.xpos[1:], data.site_xpos]))
        data.ctrl[:] = data.qfrc_bias + GAIN * (asked - data.qvel)
        mujoco.mj_step(ARM, data)
    return np.array(angles), np.array(links)


def recordings() -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Led by hand to two postures, four times each: joint angles, and where the tip went."""
    rng = np.random.default_rng(0)
    joints, tips = [], []
    for goal in GOALS:
        for _ in range(4):
            a, b, seconds = (
                START + 0.1 * rng.standard_normal(7),
                goal + 0.01 * rng.standard_normal(7),
                rng.uniform(2, 3),
            )

            def led(now: float, data: mujoco.MjData, a=a, b=b, seconds=seconds) -> np.ndarray:
                s = min(now / seconds, 1.0)
                rise, rate = s**3 * (10 - 15 * s + 6 * s**2), 30 * s**2 * (1 - s) ** 2 / seconds
                return rate * (b - a) + 8 * (a + rise * (b - a) - data.qpos)

            angles, links = follow(led, a, seconds + 0.5)
            joints.append(angles[::2])
            tips.append(links[::2, -1])
    return joints, tips


def in_joints(field: ew.fields.Field) -> Command:
    return lambda now, data: field.predict(data.qpos)


def at_the_tip(here: Callable[[float], ew.fields.Field]) -> Command:
    """Joint velocities that move the tip as its field asks, J^T (J J^T + damping)^-1 v."""

    def command(now: float, data: mujoco.MjData) -> np.ndarray:
        jacobian = np.zeros((3, ARM.nv))
        mujoco.mj_jacSite(ARM, data, jacobian, None, 0)
        v = here(now).predict(data.site_xpos[0])
        return np.asarray(jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + 1e-3 * np.eye(3), v))

    return command


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--film", type=Path, default=None, help="a .gif of the arm round the ball")
    parser.add_argument("--figure", type=Path, default=Path("mujoco_arm.png"))
    parser.add_argument("--steps", type=int, default=600, help="of training")
    options = parser.parse_args()
    joints, tips = recordings()
    recipe = ew.learning.Recipe(steps=options.steps)
    posture = ew.learn(joints, dt=0.02, memory=False, recipe=recipe)
    reach = ew.learn(tips, dt=0.02, memory=False, recipe=recipe)
    print(posture, reach, sep="\n")

    # Joint limits, 0.1 rad outside what was shown.
    low, high = np.min(np.vstack(joints), axis=0) - 0.1, np.max(np.vstack(joints), axis=0) + 0.1
    limited = posture.within(low, high)
    force = (0.8, 1.1, np.array([0.0, 90.0, 40.0]))
    runs = {}
    for name, field in (("joint limits", limited), ("none", posture)):
        angles, runs[name] = follow(in_joints(field), START, 8.0, force)
        away = np.linalg.norm(angles[-1] - field.attractors, axis=1).min()
        beyond = max(0.0, float(np.maximum(low - angles, angles - high).max()))
        print(f"pushed, with {name}: {away:.3f} rad from a goal, at most {beyond:.3f} rad beyond the limits")

    # A ball on the way of the tip, and a goal that moves about where it was.
    q = int(reach.basin(tips[0][0]))
    way = reach.simulate(tips[0][0], duration=6.0)
    along = np.cumsum(np.linalg.norm(np.diff(way, axis=0), axis=1))
    centre, radius = way[np.searchsorted(along, 0.5 * along[-1])], 0.07
    home = reach.attractors[q]

    def moving(now: float) -> tuple[np.ndarray, np.ndarray]:
        turn = 0.8 * now
        offset, rate = [0, np.sin(turn), 1 - np.cos(turn)], [0, 0.8 * np.cos(turn), 0.8 * np.sin(turn)]
        return home + 0.05 * np.array(offset), 0.05 * np.array(rate)

    def here(now: float) -> ew.fields.Field:
        place, rate = moving(now)
        return reach.moved({q: place}, velocity={q: rate}).around(centre, radius=radius)

    _, straight = follow(at_the_tip(lambda now: reach), START, 8.0)
    _, links = follow(at_the_tip(here), START, 8.0)
    nearest = np.linalg.norm(links[:, -1] - centre, axis=1).min()
    through = np.linalg.norm(straight[:, -1] - centre, axis=1).min()
    left = np.linalg.norm(links[-1, -1] - moving(8.0)[0])
    print(f"ball of radius {radius}: the tip comes to {nearest:.3f} of its centre ({through:.3f} without it)")
    print(f"goal that moves at {0.8 * 0.05 * 100:.0f} cm/s: the tip is {1000 * left:.1f} mm from it after 8 s")

    figure = plt.figure(figsize=(11, 5), layout="constrained")
    for k, (title, frames) in enumerate(
        {"pushed, within joint limits": runs["joint limits"], "round a ball": links}.items()
    ):
        axis = figure.add_subplot(1, 2, k + 1, projection="3d")
        drawn(axis, frames, len(frames) - 1, None if k == 0 else (centre, radius))
        if k:
            axis.plot(*straight[:, -1].T, color="#b0b0b0", lw=2, label="without the ball")
            axis.legend()
        axis.set_title(title)
    figure.savefig(options.figure, dpi=110)
    if options.film is not None:
        film(links, (centre, radius), options.film)


def drawn(axis: plt.Axes, links: np.ndarray, at: int, ball: tuple[np.ndarray, float] | None) -> None:
    """The arm at some moments, and the way of its tip."""
    for k in np.linspace(0, at, 6).astype(int):
        axis.plot(*links[k].T, "-o", color="#2a6f97", ms=3, lw=2, alpha=0.25 + 0.75 * (k == at))
    axis.plot(*links[: at + 1, -1].T, color="#9e2a2b", lw=2)
    if ball is not None:
        u, v = np.mgrid[0 : 2 * np.pi : 24j, 0 : np.pi : 12j]
        sphere = np.array([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)])
        axis.plot_surface(*(ball[0][:, None, None] + ball[1] * sphere), color="#e09f3e", alpha=0.8)
    axis.set(xlim=(-0.3, 0.7), ylim=(-0.5, 0.5), zlim=(0, 1.0), box_aspect=(1, 1, 1))
    axis.view_init(24, -50)


def film(links: np.ndarray, ball: tuple[np.ndarray, float], path: Path) -> None:
    figure = plt.figure(figsize=(5, 4.5))
    axis = figure.add_subplot(projection="3d")

    def frame(k: int) -> None:
        axis.clear()
        axis.plot(*links[k].T, "-o", color="#2a6f97", ms=3, lw=3)
        drawn(axis, links[: k + 1], 0, ball)
        axis.plot(*links[: k + 1, -1].T, color="#9e2a2b", lw=2)

    FuncAnimation(figure, frame, frames=range(0, len(links), 8)).save(path, PillowWriter(fps=12))


if __name__ == "__main__":
    main()

"""
A seven-joint arm that is pushed
================================

An arm is led by hand to three postures, four times each, and its joint angles are logged: 7 numbers, 50 times a second, no
labels. eigenwell finds the three goals and learns one field in the seven joint angles. Then the arm follows the field in
`MuJoCo <https://mujoco.org>`_ (``pip install mujoco``), and somebody pushes it.
"""

import matplotlib.pyplot as plt
import mujoco
import numpy as np

import eigenwell as ew

AXES = ("0 0 1", "0 1 0", "0 0 1", "0 1 0", "0 0 1", "0 1 0", "0 0 1")
LENGTHS = (0.25, 0.2, 0.2, 0.2, 0.2, 0.12, 0.1)


def model():
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


arm = model()
STEP = arm.opt.timestep
GAIN = np.array([30, 30, 20, 20, 10, 6, 3])  # Nm of torque for each rad/s that is missing


def follow(command, q, seconds, push=None):
    """Joint angles every step: torque = gravity + gain * (velocity asked - velocity measured); asked 100 times a second."""
    data = mujoco.MjData(arm)
    data.qpos[:] = q
    angles, links = [], []
    for step in range(round(seconds / STEP)):
        now = step * STEP
        mujoco.mj_forward(arm, data)
        data.xfrc_applied[:] = 0
        if push and push[0] <= now < push[1]:
            data.xfrc_applied[5, :3] = push[2]  # newton, on the fifth link
        if step % 5 == 0:
            asked = command(now, data.qpos.copy())
        data.ctrl[:] = data.qfrc_bias + GAIN * (asked - data.qvel)
        angles.append(data.qpos.copy())
        links.append(np.vstack([data.xpos[1:], data.site_xpos]))
        mujoco.mj_step(arm, data)
    return np.array(angles), np.array(links)


# %%
# Lead it to three postures. A hand is a spring that pulls along a smooth way; what counts is where the arm really went.

rng = np.random.default_rng(0)
start = np.array([0.0, -0.5, 0.0, 1.2, 0.0, 0.6, 0.0])
goals = np.array(
    [[1.2, 0.6, 0.2, 1.0, 0.3, 0.8, 0.5], [-1.2, 0.5, -0.3, 1.3, 0.0, 0.4, -0.5], [0.1, 1.1, 0.0, 0.4, 0.6, 1.0, 0.0]]
)
recordings = []
for goal in goals:
    for _ in range(4):
        a, b = start + 0.15 * rng.standard_normal(7), goal + 0.01 * rng.standard_normal(7)
        seconds = rng.uniform(2.0, 3.0)

        def led(now, q, a=a, b=b, seconds=seconds):
            s = min(now / seconds, 1.0)
            rise, rate = s**3 * (10 - 15 * s + 6 * s**2), 30 * s**2 * (1 - s) ** 2 / seconds
            return rate * (b - a) + 8 * (a + rise * (b - a) - q)

        angles, _ = follow(led, a, seconds + 0.5)
        recordings.append(angles[::10] + 5e-4 * rng.standard_normal((len(angles[::10]), 7)))  # encoders are not exact

found = ew.identify(recordings, dt=10 * STEP)
print(found)

# %%
# Learn, and follow. A field needs no clock and no plan: whatever happens to the arm, the next velocity is asked where the arm
# is now. Half the usual training is enough for these short ways.

field = ew.learn(found, recipe=ew.learning.Recipe(steps=400))
print(field)
begin, push = recordings[0][0], (0.6, 1.0, (0, -160, 0))
goal = field.basin(begin)
kept = field.toward(goal)
runs = {
    "undisturbed": follow(lambda now, q: field.predict(q), begin, 10.0),
    "pushed": follow(lambda now, q: field.predict(q), begin, 10.0, push),
    "pushed, goal kept": follow(lambda now, q: kept.predict(q), begin, 10.0, push),
}

# %%
# The plain field goes wherever the state leads: pushed over a border between basins, the arm changes its mind, and still
# arrives. A caller who wants one goal keeps it with ``field.toward(goal)``.

for name, (angles, _) in runs.items():
    end = field.basin(angles[-1])
    gap = np.abs(angles[-1] - field.attractors[end]).max()
    print(f"{name}: at goal {end}, every joint within {np.degrees(gap):.2f} degrees")

# %%
theme = ew.plotting.LIGHT
looks = {
    "undisturbed": (theme.faint, "--"),
    "pushed": (theme.colour(1), "-"),
    "pushed, goal kept": (theme.colour(0), "-"),
}
with ew.plotting.style():
    figure = plt.figure(figsize=(11, 4.8), layout="constrained")
    left, right = figure.add_subplot(1, 2, 1, projection="3d"), figure.add_subplot(1, 2, 2)
    links = runs["pushed, goal kept"][1]
    shown = np.searchsorted(np.cumsum(np.linalg.norm(np.diff(links[:, -1], axis=0), axis=1)), np.linspace(0, 1.2, 7))
    for shade, i in zip(np.linspace(0.15, 1, len(shown)), np.minimum(shown, len(links) - 1), strict=True):
        left.plot(*links[i].T, "-o", color=theme.colour(0), alpha=shade, lw=3, ms=4)
    for name, (angles, places) in runs.items():
        colour, line = looks[name]
        left.plot(*places[:, -1].T, color=colour, lw=2, ls=line)
        away = np.linalg.norm(angles - field.attractors[goal], axis=1)
        right.plot(STEP * np.arange(len(angles)), away, color=colour, lw=2, ls=line, label=name)
    right.axvspan(*push[:2], color=theme.colour(4), alpha=0.2, lw=0, label="push of 160 N")
    right.set(xlabel="time, s", ylabel="distance to the first goal in joint angles, rad")
    right.legend()
    left.set(xlabel="m", ylabel="m", zlabel="m", title="the arm, and the ways of its tip")
    left.view_init(20, -55)
    left.set_box_aspect(None, zoom=0.9)

"""Every figure draws, says what its axes are, and keeps its colours apart."""

import numpy as np
import pytest
from tests.untrained import field_of, learned_field

import eigenwell as ew
from eigenwell import plotting
from eigenwell.palette import DARK, LIGHT

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module", params=["heart", "three_d", "ten_d"])
def found(request):
    demos = getattr(ew.systems, request.param).sample(seed=0, frequency=20.0)
    return demos, ew.identify(demos)


def plane(**more):
    """A field of two attractors in the plane, without training, and what it was made from."""
    demos = ew.systems.heart.sample(seed=0, frequency=20.0)
    found = ew.identify(demos)
    return demos, found, field_of(found, bend=0.2, **more)


def drawn(ax):
    ax.figure.canvas.draw()
    assert ax.get_xlabel() and ax.get_ylabel() and ax.get_legend() is not None
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.slow
@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_every_figure(found, theme):
    demos, result = found
    with plotting.style(theme):
        assert any("sub-dynamics 0" in t for t in drawn(plotting.plot_samples(demos, result)))
        drawn(plotting.plot_graph(demos, result))
        assert "gap" in drawn(plotting.plot_spectrum(result))
        ax = plotting.plot_embedding(result, 0)
        drawn(ax)
        assert matplotlib.colors.to_hex(ax.get_facecolor()) == theme.paper


def line(ax, label):
    return np.concatenate([one.get_xydata() for one in ax.get_lines() if one.get_label() == label])


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_a_map_is_drawn_with_its_saddles_and_borders(theme):
    demos, found, field = plane()
    with plotting.style(theme):
        ax = plotting.plot_field(field, demos, found)
        assert {"separatrices", "saddles", "attractors", "sub-dynamics 0"} <= set(drawn(ax))
    np.testing.assert_array_equal(line(ax, "saddles"), field.saddles)
    # Two steps off a border, on either side of it, states end in different attractors.
    border = line(ax, "separatrices")
    border = border[field.far(border) == 0][20:-20:40]
    along = np.gradient(border, axis=0)
    across = 0.03 * field.box * (along[:, ::-1] * [1, -1]) / np.linalg.norm(along, axis=1, keepdims=True)
    sides = field.basin(border + across), field.basin(border - across)
    assert len(border) > 3 and (sides[0] != sides[1]).all()


def test_one_attractor_has_no_borders():
    samples = np.random.default_rng(0).uniform(-1, 1, (50, 2))
    field = learned_field(np.zeros((1, 2)), samples, np.zeros(50, dtype=int), np.linspace(1, 0, 50))
    assert drawn(plotting.plot_field(field)) == ["attractors"]


def test_with_memory_the_motions_are_drawn_and_no_map():
    demos, found, field = plane(memory=True)
    ax = plotting.plot_field(field, demos, found)
    assert set(drawn(ax)) == {"sub-dynamics 0", "sub-dynamics 1", "motions, with memory", "attractors"}
    assert not ax.images and not ax.collections
    # Each motion ends at the attractor of its demonstration.
    motions = [one for one in ax.get_lines() if one.get_color() == LIGHT.ink and len(one.get_xdata()) > 10]
    ends = np.array([one.get_xydata()[-1] for one in motions])
    goals = field.labels[field.phases == 1]
    assert len(motions) == sum(len(found.paths(q)) for q in range(2))
    assert (np.abs(ends - field.attractors[goals]) < 0.02 * field.box).all()


def test_given_axes_are_used_and_returned(found):
    _, result = found
    _, ax = plt.subplots()
    assert plotting.plot_spectrum(result, ax=ax) is ax


def test_theme_ends_with_its_block():
    before = dict(matplotlib.rcParams)
    with plotting.style(DARK):
        pass
    assert dict(matplotlib.rcParams) == before


def test_wrong_questions_are_told(found):
    _, result = found
    with pytest.raises(ew.DataError, match="Expected a sub-dynamics"):
        plotting.plot_embedding(result, 99)
    samples = np.random.default_rng(0).uniform(-1, 1, (50, 3))
    field = learned_field(np.zeros((1, 3)), samples, np.zeros(50, dtype=int), np.linspace(1, 0, 50))
    with pytest.raises(ew.DataError, match="in the plane"):
        plotting.plot_field(field)


def luminance(colour):
    c = np.array(matplotlib.colors.to_rgb(colour))
    linear = np.where(c <= 0.03928, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


# Machado et al. 2009: how a person without red, green or blue cones sees linear RGB.
BLINDNESS = {
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_colours_stand_out_and_stay_apart(theme):
    paper = luminance(theme.paper)
    for colour in theme.colours:
        low, high = sorted([luminance(colour), paper])
        assert (high + 0.05) / (low + 0.05) >= 2.2, colour
    rgb = np.array([matplotlib.colors.to_rgb(c) for c in theme.colours[:4]])
    for matrix in BLINDNESS.values():
        seen = np.clip(rgb**2.2 @ np.array(matrix).T, 0, 1) ** (1 / 2.2)
        gaps = np.linalg.norm(seen[:, None] - seen, axis=2)[np.triu_indices(len(seen), 1)]
        assert gaps.min() > 0.11

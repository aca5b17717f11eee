"""Every figure draws, says what its axes are, and keeps its colours apart."""

import numpy as np
import pytest

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


class Bowl:
    """A field in the plane, without training."""

    dimension, n_attractors = 2, 1
    attractors = np.zeros((1, 2))
    samples = np.random.default_rng(0).uniform(-1, 1, (50, 2))

    def basin(self, x):
        return np.zeros(len(x), dtype=int)

    def predict(self, x):
        return -np.asarray(x)

    def potential(self, x):
        return (np.asarray(x) ** 2).sum(axis=1) / 2


def drawn(ax):
    ax.figure.canvas.draw()
    assert ax.get_xlabel() and ax.get_ylabel() and ax.get_legend() is not None
    return [text.get_text() for text in ax.get_legend().get_texts()]


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


def test_field():
    ax = plotting.plot_field(Bowl())
    assert drawn(ax) == ["attractors"]


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
    bowl = Bowl()
    bowl.dimension = 3
    with pytest.raises(ew.DataError, match="in the plane"):
        plotting.plot_field(bowl)


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

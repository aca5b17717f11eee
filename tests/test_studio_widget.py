"""The canvas in a notebook: what is drawn there is the kernel's, and what the kernel learns is shown there.

The kernel's side is tested as it is; the page's side in a browser with a model that keeps its values as Jupyter's does.
"""

import json

import numpy as np
import pytest
from tests.untrained import field_of

import eigenwell as ew

pytest.importorskip("anywidget", reason='the canvas in a notebook needs pip install "eigenwell[notebook]"')


@pytest.fixture(scope="module")
def heart():
    return ew.identify(ew.systems.heart.sample(seed=0, frequency=20.0))


def strokes():
    u = np.linspace(0, 1, 30)[:, None] ** 0.5
    return [
        {"t": np.linspace(0, 1, 30).tolist(), "x": ((1 - u) * np.array(start) + u * np.array([0.4, 0.1])).tolist()}
        for start in ((-0.8, 0.5), (-0.7, -0.6), (0.2, 0.9))
    ]


def test_strokes_come_back_as_demonstrations():
    canvas = ew.studio.show()
    assert canvas.found is None and canvas.content["field"] is None
    with pytest.raises(ew.DataError, match="Draw first"):
        _ = canvas.demonstrations
    canvas.strokes = strokes()  # as the page sets them
    assert canvas.demonstrations.n_trajectories == 3 and canvas.found.n_attractors == 1
    assert canvas.content["labels"] == [0, 0, 0] and canvas.content["words"].startswith("1 goal.")
    canvas.strokes = [{"t": [0.0, 0.1], "x": [[0, 0], [0, 0]]}]
    assert canvas.found is None and "moves" in canvas.content["words"]


def test_what_was_found_and_learned_is_shown(heart):
    field = field_of(heart, bend=0.1)
    for what in (field, heart, heart.demos):
        canvas = ew.studio.show(what)
        assert canvas.found.n_attractors == 2 and len(canvas.strokes) == heart.demos.n_trajectories
    canvas.field = field
    assert len(canvas.content["field"]["map"]["attractors"]) == 2
    json.dumps(canvas.content, allow_nan=False)
    canvas.strokes = strokes()
    assert canvas.field is None and canvas.content["field"] is None  # of other strokes
    with pytest.raises(ew.DataError, match="2 dimensions"):
        ew.studio.show(ew.systems.three_d.sample(seed=0))
    with pytest.raises(ew.DataError, match="without order"):
        ew.studio.show(heart.demos.shuffled())


HARNESS = """async ([script, values]) => {
  const module = await import(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
  const heard = {};
  const model = { get: (name) => values[name], save_changes() {}, on: (name, call) => { heard[name] = call; },
    set(name, value) { values[name] = value; heard[`change:${name}`]?.(); } };
  window.model = model;
  const el = document.createElement("div");
  module.default.render({ model, el });
  // As in JupyterLab: what is rendered has no size before it is put on the page.
  await new Promise((done) => setTimeout(done, 60));
  document.body.append(el) }"""


@pytest.mark.browser
def test_a_hand_draws_in_the_notebook(browser, heart):
    canvas = ew.studio.show(field_of(heart, bend=0.1))
    page = browser.new_page(viewport={"width": 900, "height": 600})
    wrong = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    values = {"strokes": canvas.strokes, "content": canvas.content, "height": 460}
    page.evaluate(HARNESS, [canvas._esm, json.loads(json.dumps(values))])
    page.wait_for_function("() => Number(document.querySelector('div').dataset.frames) > 3")
    box = page.locator("canvas").bounding_box()
    points = np.linspace([0.2, 0.2], [0.6, 0.7], 12) * [box["width"], box["height"]] + [box["x"], box["y"]]
    page.mouse.move(*points[0])
    page.mouse.down()
    for point in points[1:]:
        page.mouse.move(*point)
    page.mouse.up()
    drawn = page.evaluate("model.get('strokes')")
    assert len(drawn) == len(canvas.strokes) + 1
    canvas.strokes = drawn  # what the comm would bring
    assert canvas.demonstrations.n_trajectories == len(drawn)
    page.mouse.click(box["x"] + 300, box["y"] + 200)
    page.wait_for_function("() => Number(document.querySelector('div').dataset.arrived) === 1")
    page.get_by_text("Undo").click()
    assert len(page.evaluate("model.get('strokes')")) == len(canvas.strokes) - 1
    page.close()
    assert wrong == []

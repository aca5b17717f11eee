"""One word and one count for goals, and nobody meets an expert's word unasked: what the studio can say, without a browser."""

import re
from pathlib import Path

import numpy as np
import pytest
from tests.untrained import field_of

from eigenwell.studio import gallery, messages, presets
from eigenwell.studio.identify import identified
from eigenwell.studio.protocol import Options
from eigenwell.studio.strokes import Stroke

PAGE = Path(messages.__file__).parent / "page"
EXPERT = re.compile(
    r"kernel|spectr|embedding|eigen(?!well)|\bloss|sub-dynamics|attractor|basin|separatri|saddle|potential|vector field|"
    r"standard error|laplac|what the method|map says",
    re.IGNORECASE,
)
EXPERTS = {"plots.js", "settings.js", "compare.js"}
"""Modules of what is folded away under "How does it know?"."""


def test_the_page_itself_outside_how_does_it_know():
    """Words, titles, labels and the help."""
    text = (PAGE / "index.html").read_text()
    text = re.sub(r'<details id="know".*?</details>', "", text, flags=re.DOTALL)
    said = [re.sub(r"<[^>]+>", " ", text), *re.findall(r'(?:title|aria-label|content)="([^"]*)"', text)]
    assert len(said) > 40 and [EXPERT.search(one)[0] for one in said if EXPERT.search(one)] == []


def test_sentences_of_the_scripts():
    for file in sorted(PAGE.glob("*.js")):
        text = re.sub(r"^\s*(//.*|/\*\*(?:(?!\*/)[\s\S])*\*/)$", "", file.read_text(), flags=re.MULTILINE)
        sentences = [one for one in re.findall(r'"([^"\n]*)"|`([^`\n]*)`', text) for one in one if one.count(" ") > 2]
        if file.name not in EXPERTS:
            assert [one for one in sentences if EXPERT.search(re.sub(r"\$\{[^}]*\}", "", one))] == [], file.name


@pytest.mark.parametrize("name", ["ess", "pen", "crossing"])
def test_what_is_found_learned_and_tested(name):
    result = gallery.identified(name)
    drawn = presets.strokes_of(name)["strokes"]
    answer = identified([Stroke(one["id"], np.array(one["t"]), np.array(one["x"])) for one in drawn], Options())
    said = [answer["why"], answer["confidence_words"], *(one["text"] for one in answer["warnings"])]
    for memory in (False, True):
        field = field_of(result.found, bend=0, memory=memory)
        fit = messages.followed(field, [(one["id"], k) for k, one in enumerate(drawn, start=1)])
        said += [fit["head"], fit["words"]]
        if memory == (name == "crossing"):
            said.append(messages.certified(field)["words"])
    said += [messages.REMEMBERS, messages.NEVER_RESTS, messages.where_to_stop([1, 2], 3)]
    said += [words(None) for name, words in messages._PLAINLY.items() if name != "arrives"]
    assert [one for one in said if EXPERT.search(one)] == [] and all(said[:2])


def test_doubts():
    from eigenwell.studio.messages import _DRAWN, _ODD

    assert [one for one in (*_DRAWN.values(), _ODD) if EXPERT.search(one)] == []

"""Tables as spreadsheets, loggers and people write them: read as what they say, or refused in a sentence."""

import numpy as np
import pytest

import eigenwell as ew
from eigenwell import files
from eigenwell.files.text import named_columns

T = np.arange(60) / 20
X = np.column_stack([np.cos(T), np.sin(2 * T)])
ROWS = np.column_stack([T, X]).round(5)


def written(folder, head, row, *, name="a.csv", encoding="utf-8", end="\n"):
    (folder / name).write_bytes((head + end.join(map(row, range(len(ROWS)))) + end).encode(encoding))
    return folder / name


def cells(k, form="{:.5f}"):
    return [form.format(value) for value in ROWS[k]]


def german(k):
    return ";".join(cells(k)).replace(".", ",")


def same(path):
    demos = files.read(path, smooth=False)
    np.testing.assert_array_equal(demos.x, ROWS[:, 1:])
    np.testing.assert_allclose(demos.time - demos.time[0], T, atol=1e-9)
    return demos


@pytest.mark.parametrize(
    ("head", "row"),
    [
        ("t,x,y\ns,m,m\n", lambda k: ",".join(cells(k))),
        ("Time,X,Y\n[s],[m],[m]\n", lambda k: ",".join(cells(k))),
        ("Recorded by a logger, v3\nDate: 2024\n\nt,x,y\n", lambda k: ",".join(cells(k))),
        ("Device;A\nRate;20\nt;x;y\n", lambda k: ";".join(cells(k))),
        ("A logger,,\nof ours,,\nt,x,y\n", lambda k: ",".join(cells(k))),
        ("t,x,y\n,,\n", lambda k: ",".join(cells(k))),
        ("t,x,y\nNA,NA,NA\n", lambda k: ",".join(cells(k))),
        ("t | x | y\n", lambda k: " | ".join(cells(k))),
        ("t,x,y\n", lambda k: ",".join(f'"{cell}"'.replace(".", ",") for cell in cells(k))),
        ("sep=;\nt;x;y\n", german),
        ("t;x;y\n", german),
        ("t\tx\ty\n", lambda k: german(k).replace(";", "\t")),
        ("t,x,y\n", lambda k: ",".join(cells(k, "{:.7E}")).replace("E", "D")),
        ("time,pos,pos\n,x,y\n", lambda k: ",".join(cells(k))),
    ],
    ids=[
        "units",
        "brackets",
        "preamble",
        "settings",
        "padded",
        "blank",
        "nothing",
        "bars",
        "quoted",
        "sep",
        "commas",
        "tabs",
        "fortran",
        "two-rows",
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
def test_what_stands_above_and_between_numbers_is_understood(tmp_path, head, row, end):
    same(written(tmp_path, head.replace("\n", end), row, end=end))


def test_lines_above_the_names_are_told_of_and_units_kept(tmp_path):
    demos = same(written(tmp_path, "A logger\nt,x,y\nms,mm,mm\n", lambda k: ",".join([str(50 * k), *cells(k)[1:]])))
    told = {c.name: str(c) for c in demos.warnings}
    assert "A logger" in told["lines-skipped"] and "milliseconds" in told["time-unit"]
    assert "x [mm], y [mm] as position" in demos.about


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1", "utf-8-sig"])
def test_letters_of_other_programs(tmp_path, encoding):
    path = written(tmp_path, "t,x,y,Größe\n", lambda k: ",".join([*cells(k), "1"]), encoding=encoding)
    assert "Größe" in same(path).about


@pytest.mark.parametrize("missing", ["", "NA", "N/A", "#N/A", "null", "None", "-", "--", "...", "NaN", " "])
def test_words_for_no_number_are_gaps(tmp_path, missing):
    path = written(
        tmp_path, "t,x,y\n", lambda k: ",".join(cells(k) if k % 10 != 5 else [cells(k)[0], missing, cells(k)[2]])
    )
    demos = files.read(path, smooth=False)
    whole = np.arange(60) % 10 != 5
    np.testing.assert_array_equal(demos.x[whole], ROWS[whole, 1:])
    np.testing.assert_allclose(demos.x, ROWS[:, 1:], atol=5e-3)
    assert "6 rows without numbers" in next(str(c) for c in demos.warnings if c.name == "gaps")


@pytest.mark.parametrize(
    "clock",
    [
        "01.05.2024 23:59:{:06.3f}",
        "5/1/2024 11:59:{:06.3f} PM",
        "28-12-2024 10:00:{:06.3f}",
        "13/1/2024 10:00:{:06.3f}",
        "10:00:{:06.3f}",
        "59:{:06.3f}",
        "2024-05-01T12:30:{:06.3f}Z",
    ],
)
def test_times_as_people_write_them(tmp_path, clock):
    same(written(tmp_path, "time,x,y\n", lambda k: ",".join([clock.format(ROWS[k, 0]), *cells(k)[1:]])))


def test_midnight_between_two_dates(tmp_path):
    def row(k):
        day, second = divmod(59 + k, 60)
        return ",".join([f"3{0 + day}.05.2024 {'00:00' if day else '23:59'}:{second:02d}", *cells(k)[1:]])

    demos = files.read(written(tmp_path, "time,x,y\n", row))
    np.testing.assert_allclose(np.diff(demos.time), 1.0)


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("t,x,y\n0,1,2\n1,2,3\nEnd of it\n", files.UnreadableFile, "'End of it' in row 4"),
        ("t:x\n0:1\n1:2\n2:3\n", files.UnreadableFile, "divided by commas"),
        ("name,colour\nanna,red\nbob,blue\n", files.UnreadableFile, "found none in the first 3 lines"),
        ("Uhr,x,y\n0,1,2\n1,2,3\n2,3,4\n", files.UnknownColumns, "Uhr. Say which column is the time"),
        ("t,x,x,z\n0,1,2,3\n1,2,3,4\n", files.UnknownColumns, "'x' more than once"),
        ("t,x,y\n2,1,2\n1,2,3\n0,3,4\n", ew.DataError, "run backwards"),
    ],
)
def test_what_is_not_understood_is_said_with_what_to_do(tmp_path, text, kind, said):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(kind, match=said) as caught:
        files.read(tmp_path / "a.csv")
    assert "\n" not in str(caught.value)


def test_spreadsheets_are_asked_for_as_text(tmp_path):
    (tmp_path / "a.xlsx").write_bytes(b"PK")
    with pytest.raises(files.UnknownFormat, match=r"Save its sheet as \.csv"):
        files.read(tmp_path / "a.xlsx")


def test_the_columns_of_a_table_by_their_names(tmp_path):
    """What `eigenwell sweep --by` goes by: all columns, words too."""
    (tmp_path / "a.csv").write_text("A logger\nheat;x;who\nK;mm;\n0,5;1,25;anna\n0,5;NA;bob\n")
    columns = named_columns(tmp_path / "a.csv")
    assert list(columns) == ["heat [K]", "x [mm]", "who"] and columns["who"].tolist() == ["anna", "bob"]
    np.testing.assert_array_equal(columns["x [mm]"], [1.25, np.nan])
    (tmp_path / "b.csv").write_text("1,2\n3,4\n")
    with pytest.raises(files.UnreadableFile, match="Expected names of columns"):
        named_columns(tmp_path / "b.csv")

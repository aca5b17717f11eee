"""The studio's server as a page meets it: a real process, real sockets, and clients that mean no good."""

import base64
import io
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import numpy as np
import psutil
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

import eigenwell as ew
from eigenwell.studio import presets, protocol
from eigenwell.studio.protocol import MESSAGE_BYTES
from eigenwell.studio.server import SESSIONS, page_files

ROOT = Path(__file__).parents[1]
TOKEN = "a-token-for-the-test"
SVG = b"http://www.w3.org/2000/svg"

# One client for all: each would read all certificates of this machine, for which plain HTTP has no use.
http = httpx.Client(verify=False, limits=httpx.Limits(max_keepalive_connections=0))

pytestmark = pytest.mark.slow


@contextmanager
def studio(*options: str, module: str = "eigenwell", **more: str):
    """A server in a process of its own, with more in its environment; the address it prints, and the process."""
    command = [sys.executable, "-m", module, "studio", "--no-browser", *options]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", **more}
    piped = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, **piped, env=environment, cwd=ROOT)
    try:
        line = process.stdout.readline()
        found = re.fullmatch(r"Studio at (http://\S+/\S*)\n", line)
        assert found, (line, process.stderr.read() if process.poll() is not None else "")
        yield found[1], process
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(10)
        finally:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def server():
    # A fifth of the training: what is learned is coarse, and everything else about it the same.
    with studio(module="tests.small_studio", EIGENWELL_STUDIO_STEPS="60") as (address, process):
        yield Server(address, process)
        assert process.poll() is None


class Server:
    def __init__(self, address, process):
        self.address, self.process = address, process
        self.host = urlsplit(address).netloc
        self.port = urlsplit(address).port

    @contextmanager
    def page(self, **options):
        options = {"origin": f"http://{self.host}", "max_size": None, "open_timeout": 20} | options
        with connect(f"ws://{self.host}/ws", **options) as ws:
            yield Page(ws)

    def workers(self):
        found = set()
        for child in psutil.Process(self.process.pid).children():
            with suppress(psutil.NoSuchProcess):  # it has just died
                if "spawn_main" in " ".join(child.cmdline()):
                    found.add(child.pid)
        return found

    def memory(self, workers: bool = False) -> float:
        """Resident megabytes of the server, or of its workers."""
        mine = psutil.Process(self.process.pid)
        return sum(p.memory_info().rss for p in (mine.children() if workers else [mine])) / 2**20


class Page:
    def __init__(self, ws):
        self.ws, self.rev = ws, 0
        self.hello = self.read("hello")

    def send(self, **message):
        self.ws.send(json.dumps(message))

    def read(self, *kinds, timeout=60.0):
        """The next answer of one of these kinds; others are passed over, errors are not."""
        until = time.monotonic() + timeout
        while True:
            answer = json.loads(self.ws.recv(timeout=max(0.01, until - time.monotonic())))
            if answer["type"] in kinds:
                return answer
            assert answer["type"] != "error" or "error" in kinds, answer

    def draw(self, strokes, **options):
        self.rev += 1
        self.send(type="strokes", rev=self.rev, strokes=strokes, options=options)
        return self.rev

    def identify(self, strokes, **options):
        rev = self.draw(strokes, **options)
        answer = self.read("identified")
        assert answer["rev"] == rev
        return answer


def crossing():
    return presets.strokes_of("crossing")["strokes"]


def twelve():
    """12 strokes of 200 samples to three goals, drawn in two seconds each."""
    t = np.linspace(0, 1, 200)
    rise = t**3 * (10 - 15 * t + 6 * t**2)
    strokes = []
    for k in range(12):
        goal = 0.6 * np.array([np.cos(2.1 * (k % 3)), np.sin(2.1 * (k % 3))])
        start = np.array([np.cos(0.5 * k), np.sin(0.5 * k)])
        bend = 0.2 * np.outer(np.sin(np.pi * rise), [1.0, -0.5])
        x = start + np.outer(rise, goal - start) + bend
        strokes.append({"id": f"s{k}", "t": (2 * t).round(4).tolist(), "x": x.round(4).tolist()})
    return strokes


# --- what a page does ---------------------------------------------------------------------------------


def test_hello_and_identify(server):
    with server.page() as page:
        assert page.hello["version"] == ew.__version__
        assert page.hello["limits"]["strokes"] == protocol.STROKES
        named = {p["name"] for p in page.hello["presets"]}
        assert {"crossing", "corner", "heart"} <= named
        # Pictures are made when they are asked for: the server does not wait for them.
        page.send(type="pictures")
        pictures = {}
        while set(pictures) != named:  # those that are made at once come first
            before, pictures = len(pictures), page.read("pictures")["pictures"]
            assert len(pictures) > before
        assert set(pictures) == named and all(len(line) == 28 for lines in pictures.values() for line in lines)
        for order in ("known", "unordered"):
            answer = page.identify(crossing(), order=order)
            assert answer["n_attractors"] == 2 and answer["confidence_words"] == "very sure"
            labels = answer["labels"]
            assert len({labels[f"p{k}"] for k in range(1, 5)}) == 1 and labels["p1"] != labels["p8"]
        page.draw([])
        assert page.read("empty")["rev"] == page.rev
        page.send(type="ping")
        page.read("pong")


def test_presets_and_files_come_as_strokes(server):
    with server.page() as page:
        page.send(type="preset", name="heart")
        loaded = page.read("strokes_loaded", "error")
        assert loaded["name"] == "Heart" and len(loaded["strokes"]) == 6
        assert page.identify(loaded["strokes"])["n_attractors"] == 2
        page.send(type="take", rev=page.rev, what="csv")
        content = http.get(server.address + page.read("file")["url"]).content
        page.send(type="load", name="../../mine.csv", base64=base64.b64encode(content).decode())
        again = page.read("strokes_loaded", "error")
        assert len(again["strokes"]) == 6 and again["scale"]["note"].count("scaled") == 0
        assert page.identify(again["strokes"])["n_attractors"] == 2
        for bad in ({"type": "preset", "name": "no such"}, {"type": "load", "name": "a.csv", "base64": "AAAA"}):
            page.send(**bad)
            assert page.read("error")["about"] == bad["type"]


def test_the_newest_strokes_win(server):
    with server.page() as page:
        for _ in range(40):
            page.draw(crossing(), order="unordered")
        answers = []
        while not answers or answers[-1]["rev"] != page.rev:
            answers.append(page.read("identified"))
        assert len(answers) < 20 and [a["rev"] for a in answers] == sorted(a["rev"] for a in answers)
        page.send(type="strokes", rev=1, strokes=[])
        assert page.read("error")["about"] == "strokes"


def test_answers_come_while_one_draws(server):
    """12 strokes of 200 samples to labels: 0.5 s is the bar for the whole way to the screen."""
    strokes = twelve()
    with server.page() as page:
        assert page.identify(strokes)["n_attractors"] == 3
        taken = []
        for _ in range(9):
            began = time.perf_counter()
            page.identify(strokes)
            taken.append(time.perf_counter() - began)
        assert np.median(taken) < 0.5, taken


def test_learn_watch_and_take_away(server, tmp_path):
    with server.page() as page:
        goals = [a["x"] for a in page.identify(crossing())["attractors"]]
        page.send(type="compare", rev=page.rev)
        assert page.read("compared")["ways"]["known"]["n"] == 2
        page.send(type="take", rev=page.rev, what="model")
        assert "Learn" in page.read("error")["message"]
        page.send(type="learn", rev=page.rev, numbers=[1, 0])  # as the page has numbered its goals
        assert page.read("progress", timeout=400)["step"] == 0
        steps, grown = [], []
        while True:
            answer = page.read("progress", "growing", "learned", timeout=400)
            if answer["type"] == "learned":
                break
            if answer["type"] == "growing":
                grown.append(answer["field"])
                continue
            steps.append(answer["step"])
            if len(steps) % 6 == 1:
                with server.page() as other:  # drawing goes on while somebody learns
                    assert other.identify(crossing())["n_attractors"] == 2
        assert steps == sorted(steps) and len(steps) >= 10
        # Strokes that cross: motions that remember, which are shown while they grow, and a field towards each goal.
        assert grown and all(len(one["lifted"]) == 2 and one["map"] is None for one in grown)
        learned = answer["field"]
        assert len(learned["lifted"]) == len(learned["goals"]) == 2 and "remember" in answer["memory"]
        assert answer["fit"]["head"] and answer["fit"]["worst"] and answer["rev"] == page.rev
        # The certificate comes by itself, after the field.
        assert page.read("certified", timeout=200)["words"]
        # A field that the page has kept comes back as it was.
        page.draw([])
        page.read("empty")
        page.identify(crossing())
        page.send(type="restore", rev=page.rev, base64=answer["model"], numbers=[1, 0])
        again = page.read("learned", timeout=60)
        assert again["restored"] and again["field"] == learned and again["fit"] == answer["fit"]
        taken = {}
        for what in protocol.TAKEN:
            page.send(type="take", rev=page.rev, what=what)
            ticket = page.read("file")
            got = http.get(server.address + ticket["url"])
            assert got.status_code == 200 and len(got.content) == ticket["bytes"]
            assert got.headers["content-disposition"] == f'attachment; filename="{ticket["name"]}"'
            assert http.get(server.address + ticket["url"]).status_code == 404
            taken[what] = got.content
        (tmp_path / "drawn.eigenwell").write_bytes(taken["model"])
        field = ew.load(tmp_path / "drawn.eigenwell")
        assert field.n_attractors == 2 and field.has_memory and np.allclose(field.attractors[::-1], goals, atol=0.01)
        assert "eigenwell-field.onnx" in zipfile.ZipFile(io.BytesIO(taken["onnx"])).namelist()
        (tmp_path / "a.csv").write_bytes(taken["csv"])
        assert ew.identify(ew.files.read(tmp_path / "a.csv")).n_attractors == 2
        assert (
            taken["report"].startswith(b"<!doctype html>") and b"eigenwell" in taken["c"] and len(taken["onnx"]) > 1000
        )
        # Nothing is fetched: the one address is that of a link home.
        addresses = re.findall(rb"(.{9})https?://[^\"'\s]+", taken["page"].replace(SVG, b""))
        assert b"<canvas" in taken["page"] and [one[-6:] for one in addresses] == [b'href="']
        page.send(type="load", name="drawn.eigenwell", base64=base64.b64encode(taken["studio"]).decode())
        opened = page.read("strokes_loaded")
        assert [row["x"] for row in opened["strokes"]] == [row["x"] for row in crossing()] and opened["model"]
        # Of other strokes there is no field; while strokes come, what is being learned goes on.
        page.identify(crossing()[:4])
        page.send(type="take", rev=page.rev, what="model")
        assert "Learn" in page.read("error")["message"]
        page.send(type="learn", rev=page.rev)
        before = page.rev
        page.read("progress", timeout=400)
        page.identify(crossing()[:3])
        assert page.read("growing", "learned", timeout=400)["rev"] == before
        page.send(type="cancel")


def test_cancelling_and_leaving_stop_the_work(server):
    with server.page() as page:
        page.identify(crossing())
        page.send(type="learn", rev=page.rev)
        page.read("progress", timeout=400)
        page.send(type="cancel")
        page.read("cancelled")
        page.send(type="learn", rev=page.rev)
        page.read("progress", timeout=400)
        page.identify(presets.strokes_of("four_wells")["strokes"])
        page.send(type="learn", rev=page.rev)
        page.read("progress", timeout=400)
    # The page is gone; a worker that went on for it would keep the next one waiting for seconds.
    with server.page() as page:
        page.identify(crossing())
        page.send(type="learn", rev=page.rev)
        assert page.read("progress", timeout=60)["rev"] == page.rev  # of training alone it would be hundreds
        page.send(type="cancel")


def test_dead_workers_are_replaced(server):
    with server.page() as page:
        page.identify(crossing())
        page.send(type="learn", rev=page.rev)
        page.read("progress", timeout=400)
        before = server.workers()  # now, since one that was cancelled before has been replaced
        assert len(before) == 4
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        assert "Try again" in page.read("error")["message"]
        page.draw(crossing())
        answer = page.read("identified", "error")
        if answer["type"] == "error":  # it met the dead one
            page.identify(crossing())
        deadline = time.monotonic() + 30
        while len(server.workers()) < 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not server.workers() & before


# --- who may come in ----------------------------------------------------------------------------------


def test_the_page_is_served_whole_and_sealed(server):
    files = page_files()
    assert "/" in files
    for path, file in files.items():
        got = http.get(f"http://{server.host}{path}")
        assert got.status_code == 200 and got.content == file.content
        assert got.headers["content-type"] == file.media_type and got.headers["x-content-type-options"] == "nosniff"
        assert got.headers["content-security-policy"].startswith("default-src 'self';")
        again = http.get(f"http://{server.host}{path}", headers={"If-None-Match": got.headers["etag"]})
        assert again.status_code == 304 and not again.content
    assert http.post(f"http://{server.host}/", content=b"x").status_code == 405


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "http://localhost:1", "https://{host}"])
def test_other_origins_are_refused(server, origin):
    origin = origin and origin.format(host=server.host)
    with pytest.raises(InvalidStatus) as caught, server.page(origin=origin):
        pass
    assert caught.value.response.status_code == 403
    if origin is not None:
        assert http.get(server.address, headers={"Origin": origin}).status_code == 403


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "", "localhost:{port}.x"]
)
def test_other_hosts_are_refused(server, host):
    host = host.format(port=server.port)
    assert http.get(server.address, headers={"Host": host}).status_code in (400, 421)
    raw = f"GET /ws HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    raw += "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    assert b"101" not in exchange(server, raw.encode()).split(b"\r\n")[0]


def exchange(server, raw: bytes, wait=5.0) -> bytes:
    """What comes back for bytes that no HTTP library would send."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=wait) as sock:
        sock.sendall(raw)
        with suppress(TimeoutError, ConnectionError):
            return sock.recv(65536)
    return b""


TRICKS = [
    "/../../etc/passwd", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/etc/passwd",
    "/take/../server.py", "/take/..%2f..%2fserver.py", "/index.html%00.js", "/%00", "/main.js/..",
    "/....//....//etc/passwd", "/..\\..\\etc\\passwd", "/take/", "/take/" + "a" * 43, "/take/" + "a" * 5000, "/server.py",
    "/../server.py", "/page/index.html", "/./index.html", "http://evil.example/", "/%ff%fe", "/ws", "/" + "a/" * 2000,
]  # fmt: skip


@pytest.mark.parametrize("path", TRICKS)
def test_no_path_reaches_the_file_system(server, path):
    request = f"GET {path} HTTP/1.1\r\nHost: {server.host}\r\nConnection: close\r\n\r\n"
    answer = exchange(server, request.encode())
    status = answer.split(b"\r\n")[0]
    assert b" 200 " not in status and b" 500 " not in status and b"root:" not in answer, answer[:200]
    assert http.get(server.address).status_code == 200


def test_a_server_for_others_wants_its_token():
    with studio("--host", "0.0.0.0", "--token", TOKEN) as (address, process):
        assert address.endswith(f"/?token={TOKEN}")
        server = Server(address, process)
        plain = f"http://{server.host}/"
        for url in (plain, f"{plain}main.js", f"{plain}?token=wrong", f"{plain}?token="):
            assert http.get(url).status_code == 401
        with pytest.raises(InvalidStatus), server.page():
            pass
        with httpx.Client() as browser:
            first = browser.get(address)
            assert first.status_code == 200
            cookie = first.headers["set-cookie"].lower()
            assert "httponly" in cookie and "samesite=strict" in cookie
            assert browser.get(plain).status_code == 200
        name, value = first.headers["set-cookie"].split(";")[0].split("=")
        with server.page(additional_headers={"Cookie": f"{name}={value}"}) as page:
            assert page.identify(crossing())["n_attractors"] == 2
    run = subprocess.run(
        [sys.executable, "-m", "eigenwell", "studio", "--token", "short"], capture_output=True, text=True, timeout=60
    )
    assert run.returncode == 2 and "--token" in run.stderr and run.stderr.count("\n") == 1


def test_a_taken_port_is_said_in_one_line(server):
    run = subprocess.run(
        [sys.executable, "-m", "eigenwell", "studio", "--no-browser", "--port", str(server.port)],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert run.returncode == 3 and "another --port" in run.stderr and run.stderr.count("\n") == 1


# --- clients that mean no good ------------------------------------------------------------------------


def nasty(rng: random.Random) -> str | bytes:
    """A message that is wrong in one of many ways."""
    kind = rng.choice(["strokes", "learn", "cancel", "restore", "preset", "load", "take", "ping", "x", ""])
    row = {
        "id": rng.choice(["a", "", 1, None]),
        "t": [rng.random()] * rng.randint(0, 4),
        "x": [[rng.random(), 1e300]] * 3,
    }
    match rng.randrange(12):
        case 0:
            return rng.randbytes(rng.randint(0, 200))
        case 1:
            return rng.randbytes(rng.randint(0, 200)).decode("latin-1")
        case 2:
            return rng.choice("[{") * rng.randint(1, 5000)
        case 3:
            return json.dumps({"type": kind, "rev": rng.choice([-1, 1, 1e9, "1", None, [], 2**80])})
        case 4:
            return json.dumps({"type": "strokes", "rev": rng.randint(0, 9), "strokes": [row] * rng.randint(0, 300)})
        case 5:
            return json.dumps(
                {"type": "load", "name": rng.choice(["../../x.csv", "a.npz", "a.mat", "a"]), "base64": "UEsDBA=="}
            )
        case 6:
            return json.dumps({"type": "take", "rev": 1, "what": rng.choice(["csv", "../x", "report", "onnx", 5])})
        case 7:
            return json.dumps({"type": "restore", "rev": 1, "base64": rng.choice(["UEsDBA==", "AAAA", "#", 5, None])})
        case 8:
            return json.dumps({"type": "preset", "name": rng.choice(["heart", "../heart", "\x00", "a" * 10_000])})
        case 9:
            return '{"type":"ping"' + "," * rng.randint(0, 3) + rng.choice(["}", "", "]", "NaN"])
        case 10:
            return json.dumps("x" * rng.randint(0, 20_000))
        case _:
            return json.dumps(
                {"type": kind} | {rng.choice(["rev", "x", "id"]): [[[None] * 3] * 3] * rng.randint(0, 50)}
            )


# A million lists within the limit, and a message a little over it.
HUGE = {0: "[" + "[]," * (MESSAGE_BYTES // 3 - 2) + "1]", 500: "[" + "[]," * (MESSAGE_BYTES // 3) + "1]"}


def test_ten_thousand_hostile_messages(server):
    """Random, nested, oversized messages on several connections, with half-open ones beside them; a good page meanwhile."""
    with server.page() as page:
        page.identify(crossing())
        before = server.memory()
        sent, trouble = [0], []

        def attack(seed: int, count: int) -> None:
            rng = random.Random(seed)
            try:
                while count > 0:
                    with suppress(ConnectionClosed, InvalidStatus), server.page() as bad:
                        drain = threading.Thread(target=read_all, args=(bad.ws,), daemon=True)
                        drain.start()
                        for _ in range(count):
                            bad.ws.send(HUGE[count % 1000] if count % 1000 in HUGE else nasty(rng))
                            count -= 1
                            sent[0] += 1
                        bad.send(type="ping")
            except Exception as error:
                trouble.append(error)

        half_open = []
        for k in range(60):
            sock = socket.create_connection(("127.0.0.1", server.port))
            sock.sendall(b"GET / HTTP/1.1\r\nHost: "[: k % 25])
            half_open.append(sock)
        attackers = [threading.Thread(target=attack, args=(seed, 2500)) for seed in range(4)]
        for thread in attackers:
            thread.start()
        good = []
        while any(thread.is_alive() for thread in attackers):
            began = time.perf_counter()
            assert page.identify(crossing())["n_attractors"] == 2
            good.append(time.perf_counter() - began)
            assert http.get(server.address, timeout=10).status_code == 200
            time.sleep(0.1)
        for thread in attackers:
            thread.join()
        for sock in half_open:
            sock.close()
        assert not trouble and sent[0] == 10_000
        assert good and np.median(good) < 2.0, good
        assert page.identify(crossing())["n_attractors"] == 2
        grown = server.memory() - before
        assert grown < 300 and server.memory(workers=True) < 2000, f"{grown:.0f} MB more than before"


def read_all(ws) -> None:
    with suppress(Exception):
        while True:
            ws.recv()


def test_oversized_messages_are_answered_or_hung_up_on(server):
    with server.page() as page:
        page.ws.send(" " * (MESSAGE_BYTES + 10))
        assert "MB" in page.read("error")["message"]
        page.ws.send(b"\x00" * 100)
        assert "bytes" in page.read("error")["message"]
        with pytest.raises(ConnectionClosed):
            page.ws.send("x" * (3 * MESSAGE_BYTES))
            page.read("error")
    with server.page() as page:
        assert page.identify(crossing())["n_attractors"] == 2


def test_who_does_not_read_waits_alone(server):
    """A client that sends and never reads: the server stops listening to it, and remembers little."""
    with socket.create_connection(("127.0.0.1", server.port)) as sock:
        raw = f"GET /ws HTTP/1.1\r\nHost: {server.host}\r\nOrigin: http://{server.host}\r\nUpgrade: websocket\r\n"
        raw += "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        sock.sendall(raw.encode())
        body = json.dumps({"type": "no such type"}).encode()
        frame = bytes([0x81, 0x80 | len(body), 0, 0, 0, 0]) + body
        sock.settimeout(2.0)
        before = server.memory()
        with pytest.raises(TimeoutError):
            for _ in range(2000):
                sock.sendall(frame * 1000)
        with server.page() as page:
            assert page.identify(crossing())["n_attractors"] == 2
        assert server.memory() - before < 100


def test_only_so_many_pages(server):
    """Closed pages make room: those of the tests before, and these."""
    for _ in range(2):
        with ExitStack() as pages:
            deadline = time.monotonic() + 10
            while True:
                try:
                    for _ in range(SESSIONS):
                        pages.enter_context(server.page())
                    break
                except ConnectionClosed:
                    pages.close()
                    assert time.monotonic() < deadline, "a page that is gone is still counted"
                    time.sleep(0.1)
            with pytest.raises(ConnectionClosed), server.page():
                pass


# --- the end ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_everything_at_once(way, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with studio() as (address, process):
        server = Server(address, process)
        with server.page() as page:
            page.identify(crossing())
            page.send(type="learn", rev=page.rev)
            children = psutil.Process(process.pid).children(recursive=True)
            assert len(children) >= 3
            began = time.monotonic()
            process.send_signal(way)
            process.wait(10)
            assert time.monotonic() - began < 3
            _, alive = psutil.wait_procs(children, timeout=3)
            assert not alive and not list(tmp_path.iterdir())
        assert process.stderr.read() == ""


def test_workers_do_not_outlive_a_server_that_is_killed(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with studio() as (address, process):
        server = Server(address, process)
        with server.page() as page:
            page.identify(crossing())
        children = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        _, alive = psutil.wait_procs(children, timeout=20)
        assert not alive and not list(tmp_path.glob("eigenwell-*"))


def test_a_missing_extra_names_the_pip_line():
    code = (
        "import sys; sys.modules['starlette'] = None; sys.argv[1:] = ['studio']\nfrom eigenwell.cli import main; main()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert run.returncode == 5 and 'pip install "eigenwell[studio]"' in run.stderr and run.stderr.count("\n") == 1

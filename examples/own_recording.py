"""From a recording on disk to an answer, a figure and a report: python examples/own_recording.py [FILE...]

Without a file it writes one first: shuffled samples of two goals, as a robot's logger might leave them.
"""

import sys
from pathlib import Path

import eigenwell as ew
from eigenwell import files, plotting, report

paths = [Path(name) for name in sys.argv[1:]]
if not paths:
    paths = [Path("recording.csv")]
    files.write(paths[0], ew.systems.heart.sample(seed=0).shuffled())

demos = files.read(paths)
print(demos, *demos.warnings, sep="\n")

found = ew.identify(demos)
print(found)

with plotting.style(plotting.LIGHT):
    ax = plotting.plot_samples(demos, found)
    ax.figure.savefig("samples.png")
report.write_report("report.html", demos, found, title=", ".join(p.name for p in paths))
print("wrote samples.png and report.html")

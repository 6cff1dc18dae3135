"""Slipstream from Python: load a model, race its lanes, read the events.

from slipstream import Request, load

model = load("embedded")
for event in model.race(Request("Name three rivers.", lanes=("vanilla", "racer"))):
    if event.kind == "step":
        print(event.lane, "".join(event.pieces))
"""

import os

# Threads that spin for long while they wait take the core that a browser draws with, and
# slow each other tenfold where two programs share the cores. Read once, when torch is
# first imported, so it stands before that; a value somebody has chosen stays.
os.environ.setdefault("GOMP_SPINCOUNT", "20000")

from slipstream.lanes import LANES
from slipstream.model import Model, load
from slipstream.request import Request

__all__ = ["LANES", "Model", "Request", "load"]

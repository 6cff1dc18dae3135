"""Slipstream from Python: load a model, race its lanes, read the events.

from slipstream import Request, load

model = load("embedded")
for event in model.race(Request("Name three rivers.", lanes=("vanilla", "racer"))):
    if event.kind == "step":
        print(event.lane, "".join(event.pieces))
"""

from slipstream.lanes import LANES
from slipstream.model import Model, load
from slipstream.request import Request

__all__ = ["LANES", "Model", "Request", "load"]

"""Tests. The package is imported before torch, so that torch's threads wait as in the program."""

import slipstream  # noqa: F401

"""Measurements: speed against peers, the GPU script. Run as `python -m benchmarks …`."""

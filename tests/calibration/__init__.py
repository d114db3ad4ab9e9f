"""Simulation-based calibration: if parameters come from the prior and data from the model, ranks are uniform."""

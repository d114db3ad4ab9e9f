"""Loops that numpy has no word for, compiled; beside each its twin in numpy, which is its oracle and its fallback."""

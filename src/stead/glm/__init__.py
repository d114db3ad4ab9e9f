"""Generalised linear models: one home for the families, the mode and the normal approximation at it."""

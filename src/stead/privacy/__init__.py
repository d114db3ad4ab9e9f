"""Differential privacy: what was spent on a file, whether a mechanism keeps its promise, and the search for an epsilon."""

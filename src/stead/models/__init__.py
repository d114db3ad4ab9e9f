"""Synthesis models: one file each; its docstring is model, priors, equation and citation."""

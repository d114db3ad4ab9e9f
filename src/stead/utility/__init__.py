"""How true the synthetic data still are."""

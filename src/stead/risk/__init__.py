"""What an intruder could still learn from the synthetic data."""

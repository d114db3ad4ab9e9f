"""What is shown: one look, charts from aggregates, pages from JSON."""

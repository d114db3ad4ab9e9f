"""Speed, measured in CPU seconds in one run; written to docs/reference/benchmarks.md by `make bench`."""

"""The command line: it parses and prints, and computes nothing."""

"""Files that survive: written whole or not at all, hashed, and checked when they are read."""

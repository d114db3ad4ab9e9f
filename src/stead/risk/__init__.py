"""Disclosure risk: what an intruder could learn of a person from what is released."""

"""Drawing from posteriors exactly, and the checks that say whether it worked."""

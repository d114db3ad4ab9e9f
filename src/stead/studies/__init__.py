"""From a plan to an assessment: what a command runs."""

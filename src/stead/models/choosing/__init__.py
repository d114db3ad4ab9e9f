"""What `Sequence.auto` looks at, and how it decides: columns, rules between them, predictors, order, models."""

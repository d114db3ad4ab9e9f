"""What a data set is: a schema, the records under it, and the ways in and out."""

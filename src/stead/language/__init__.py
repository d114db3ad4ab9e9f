"""The formula language and what it builds. Nothing in it is ever evaluated as Python."""

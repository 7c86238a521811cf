"""The lines of a batch, answered here or by several processes."""

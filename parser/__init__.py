"""Text to syntax tree, with the place of everything in the source."""

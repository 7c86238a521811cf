"""A command over the rows of a table: read chunk by chunk, evaluated, and written as it goes."""

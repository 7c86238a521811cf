"""The table of operations: one row each, grouped by family. The table is the one source of names, rules and docs."""

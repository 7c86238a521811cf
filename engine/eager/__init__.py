"""The tape tier: the core program compiled to closures and run, every operation offered to the active recorders."""

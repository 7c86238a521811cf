"""The core program: what both executors read. Names are resolved, aliases are rows, sugar is gone, places are kept."""

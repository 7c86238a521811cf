"""From emitted source to a callable kernel: compilation by Numba, object code kept on disk, loading, and calls."""

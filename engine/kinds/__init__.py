"""Value kinds that attach from outside: they flatten to numeric leaves, and only leaves reach a tape."""

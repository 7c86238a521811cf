"""Values, dtypes, dispatch and limits: what every other part of the engine stands on."""

"""The version, in the one place that costs nothing to read."""

VERSION = "0.1.0"

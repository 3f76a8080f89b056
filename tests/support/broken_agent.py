"""An agent whose module cannot be imported, and says something that callers must not read."""

raise RuntimeError("canary in a traceback")

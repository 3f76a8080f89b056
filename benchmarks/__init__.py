"""What Pausepoint costs, measured. Commands, not tests; docs/performance.md has what they printed."""

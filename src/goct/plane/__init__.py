"""Two-class metrics by linear questions: what needs only an oracle, not which one answers."""

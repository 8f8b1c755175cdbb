"""What several test files need: brute force, problems, models, processes."""

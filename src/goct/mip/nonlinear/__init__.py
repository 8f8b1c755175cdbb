"""Nonlinear metrics as programs: their products, their cuts, and the objective."""

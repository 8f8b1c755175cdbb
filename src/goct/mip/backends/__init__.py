"""One thin module per solver; each runs a :class:`goct.mip.program.MipProgram`."""

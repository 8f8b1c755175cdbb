"""The paper's evaluation, and more: experiments that run by one command.

An experiment is a list of :class:`~goct.bench.spec.Spec`; a campaign runs each
of them in a process of its own, here or on a cluster, and keeps what came of it
in one results file; a report makes tables and figures of that file. See the
command ``goct bench``.
"""

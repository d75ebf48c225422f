"""The command line: one module a subject; data on standard output, everything else on standard error."""

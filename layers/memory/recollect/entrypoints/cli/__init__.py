"""The command line: one command a file; data on standard output, everything else on standard error."""

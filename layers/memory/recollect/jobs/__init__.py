"""Jobs: long work of an operator, in steps that survive a time-out and a crash."""

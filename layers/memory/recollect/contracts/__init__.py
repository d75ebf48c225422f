"""The contract of each port as a pytest suite: subclass it, give it the fixtures that it names, and run it.

`examples` has what the suites write.
"""

"""The promises of each port as pytest suites: subclass one, give it the fixtures it names, and run it.

`examples` builds what the suites write; the suites are named after the port they hold an adapter to.
"""

"""Classes of other frameworks over Recollect: one module for each, over a server or in the process."""

"""A crash before and after every call of a port, in every use case; then restart, reconciliation, the same again."""

import pytest

pytest.register_assert_rewrite("crashes.invariants", "crashes.matrix")

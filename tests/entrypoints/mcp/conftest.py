"""Apps in folders of their own."""

from entrypoints.http.conftest import app, opened

__all__ = ["app", "opened"]

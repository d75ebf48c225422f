"""`recollect openapi`: the document that the HTTP surface is described by."""

import sys


def openapi() -> None:
    """Prints the OpenAPI document."""
    from recollect.entrypoints.http.openapi import document_json

    sys.stdout.write(document_json().rstrip("\n") + "\n")

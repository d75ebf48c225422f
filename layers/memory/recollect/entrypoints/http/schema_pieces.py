"""What the schemas of answers are made of."""

from recollect.entrypoints.http.fields import Schema

TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0}
NUMBER: Schema = {"type": "number"}
SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}
TIME: Schema = {"type": "string", "format": "date-time"}
TEXTS: Schema = {"type": "array", "items": TEXT}
FREE: Schema = {"type": "object", "additionalProperties": True}
NUMBERS: Schema = {"type": "object", "additionalProperties": NUMBER}


def ref(name: str) -> Schema:
    """A reference to a schema of the document."""
    return {"$ref": f"#/components/schemas/{name}"}


def many(items: Schema) -> Schema:
    """A list of these."""
    return {"type": "array", "items": items}


def words(*names: str) -> Schema:
    """One of these words."""
    return {"type": "string", "enum": list(names)}


def shape(required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    """An object; an answer may gain fields, so others are not excluded."""
    return {"type": "object", "properties": {**required, **(optional or {})}, "required": list(required)}

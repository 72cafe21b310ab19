"""JSON documents that commands write follow their schemas in docs/schema; conftest.py checks all that tests see printed."""

import functools
import json
import re
from pathlib import Path

import jsonschema
import referencing

FOLDER = Path(__file__).resolve().parent.parent / "docs/schema"
# Checking takes a second per 2 MB.
MOST_CHARACTERS = 500_000


@functools.cache
def validators():
    """By what documents say in "schema"."""
    schemas = [json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.json")]
    for schema in schemas:
        jsonschema.Draft202012Validator.check_schema(schema)
    registry = referencing.Registry().with_resources((schema["$id"], referencing.Resource.from_contents(schema)) for schema in schemas)
    return {schema["$id"]: jsonschema.Draft202012Validator(schema, registry=registry) for schema in schemas}


def check(document):
    """Raises jsonschema.ValidationError."""
    validators()[document["schema"]].validate(document)


def check_printed(text):
    """The same of what is such a document as a whole."""
    kind = re.match(r'\{\s*"schema":\s*"([^"]*)"', text) if text and len(text) <= MOST_CHARACTERS else None
    if kind and kind[1] in validators():
        check(json.loads(text))

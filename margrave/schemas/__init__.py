"""JSON Schemas and TypeScript types of the documents and resources, made from the models.

Lives here: the models of what the API answers, the table of schemas, and what turns a model into a
schema and schemas into types. May use: margrave, pydantic. Never: files (docs/generate.py writes
them to schemas/, the controller serves them) or another room's models (who has some adds them).
"""

from margrave.schemas.generating import schema_of, text_of
from margrave.schemas.table import DOCUMENTS, SCHEMAS, Models, all_schemas
from margrave.schemas.typescript import types_of

__all__ = ["DOCUMENTS", "SCHEMAS", "Models", "all_schemas", "schema_of", "text_of", "types_of"]

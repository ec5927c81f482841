"""JSON Schemas from the standard's own files: a second reading that shares no line with ours.

OpenAPI's schemas are used as they stand but for two rules that name keys which no document has
(docs/margo.md tells them). LinkML's model is written out by the few rules that this one uses.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml
from jsonschema import Draft202012Validator

if TYPE_CHECKING:
    from collections.abc import Mapping

SPEC: Final = Path(__file__).parents[2].parent / "shared/margo/spec"
_API: Final = "workload-management-api-1.0.0-rc.3.yaml"
_MODEL: Final = "application-description.linkml.yaml"

# The document's name here, and OpenAPI's.
API_SCHEMAS: Final = {
    "deployment": "appDeploymentManifest",
    "manifest": "UnsignedAppStateManifest",
    "capabilities": "DeviceCapabilitiesManifest",
    "status": "DeploymentStatusManifest",
    "problem": "ProblemDetail",
}
# Required keys that no document can have.
_IMPOSSIBLE: Final = {
    "UnsignedAppStateManifest": {"bundle.mediaType", "bundle.digest", "bundle.url"},
    "appDeploymentMetadata": {"annotations"},
}
_EXTENSIONS: Final = "x-placeholder-extensions"
_TYPES: Final = {"string": "string", "integer": "integer", "boolean": "boolean"}


def from_api() -> dict[str, Draft202012Validator]:
    """A validator for each document that the OpenAPI file describes."""
    components = yaml.safe_load((SPEC / _API).read_text())["components"]
    for name, keys in _IMPOSSIBLE.items():
        schema = components["schemas"][name]
        schema["required"] = [one for one in schema["required"] if one not in keys]
    whole = {"components": components}
    return {
        kind: Draft202012Validator({"$ref": f"#/components/schemas/{name}", **whole})
        for kind, name in API_SCHEMAS.items()
    }


def from_model() -> Draft202012Validator:
    """A validator for descriptions, from the LinkML model."""
    model = yaml.safe_load((SPEC / _MODEL).read_text())
    definitions = {name: _class(model, name) for name in model["classes"]}
    definitions |= {
        name: {"enum": list(one["permissible_values"])} for name, one in model["enums"].items()
    }
    return Draft202012Validator({"$ref": "#/$defs/ApplicationDescription", "$defs": definitions})


def _class(model: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A class is a mapping with its attributes, its slots and what it inherits."""
    attributes = _attributes(model, name)
    extensible = attributes.pop(_EXTENSIONS, None) is not None
    made: dict[str, Any] = {
        "type": "object",
        "properties": {key: _range(model, one) for key, one in attributes.items()},
        "required": [key for key, one in attributes.items() if one.get("required")],
        "additionalProperties": False,
    }
    if extensible:
        made["patternProperties"] = {"^x-[a-z][a-z0-9-]*-extensions$": {"type": "object"}}
    rules = [_rule(one) for one in model["classes"][name].get("rules", [])]
    return {**made, "allOf": rules} if rules else made


def _attributes(model: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = model["classes"][name]
    inherited = _attributes(model, found["is_a"]) if "is_a" in found else {}
    slots = {slot: model["slots"][slot] for slot in found.get("slots", [])}
    own = {key: one or {} for key, one in (found.get("attributes") or {}).items()}
    return {**inherited, **own, **slots}


def _rule(rule: Mapping[str, Any]) -> dict[str, Any]:
    """When the one slot equals a word, the other is there."""
    [(slot, condition)] = rule["preconditions"]["slot_conditions"].items()
    [wanted] = rule["postconditions"]["slot_conditions"]
    return {
        "if": {"properties": {slot: {"const": condition["equals_string"]}}, "required": [slot]},
        "then": {"required": [wanted]},
    }


def _range(model: Mapping[str, Any], slot: Mapping[str, Any]) -> dict[str, Any]:
    """What a slot may hold: one or several of its range, nothing where it is not required."""
    if "any_of" in slot:
        made: dict[str, Any] = {"anyOf": [_one(model, each["range"]) for each in slot["any_of"]]}
    else:
        made = _one(model, slot.get("range", model.get("default_range", "string")))
    if "pattern" in slot:
        made = {**made, "pattern": slot["pattern"]}
    if not slot.get("multivalued"):
        return made if slot.get("required") else {"anyOf": [made, {"type": "null"}]}
    if slot.get("inlined_as_list") is False and slot.get("inlined"):
        # The key is the identifier, so it is not asked for once more.
        name = slot["range"]
        below = _class(model, name)
        below["required"] = [key for key in below["required"] if key != "name"]
        return {"type": "object", "additionalProperties": below}
    several = {"type": "array", "items": made}
    return several if slot.get("required") else {"anyOf": [several, {"type": "null"}]}


def _one(model: Mapping[str, Any], name: str) -> dict[str, Any]:
    if name in ("double", "float"):
        return {"type": "number"}
    if name == "Any":
        return {}
    if name in model["classes"] or name in model["enums"]:
        # An heir may stand wherever its ancestor may; one that has nothing of its own adds nothing.
        heirs = [
            one
            for one, below in model["classes"].items()
            if below.get("is_a") == name and below.get("attributes")
        ]
        references = [{"$ref": f"#/$defs/{one}"} for one in (name, *heirs)]
        return {"anyOf": references} if heirs else references[0]
    return {"type": _TYPES[name]}

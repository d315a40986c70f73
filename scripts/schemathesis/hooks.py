"""What schemathesis can't know of the interface from the OpenAPI document alone.

Some rules reach across values: `consistent` lets requests that are meant to be right be right, so that
they come through to what the operations do. And the document says what clients should send, while the
server takes more than that, as the document tells in words (decision R5): where a request that breaks a
schema is accepted, `tolerated` says whether it is one of those.
"""

import copy
import datetime
import hashlib

import jsonschema_rs
import schemathesis
from schemathesis import GenerationMode
from schemathesis.core.failures import AcceptedNegativeData

FLEET = {
    "ComputerGUID": "6f9619ff-8b86-d011-b42d-00c04fc964ff",
    "DeviceGUID": "0d4ab0a6-0f0b-4d3e-9f5b-0a9a9f6f2c11",
    "QueueGUID": "5b3f3a0e-64a5-4b39-9d6e-7d7f3b1c2d10",
    "JobGUID": "a3c1b9a2-1111-4c1d-8f6e-2f1e5d6c7b80",
}
# Few resources, so that what one request adds others find.
RESOURCES = [f"00000000-0000-4000-8000-{number:012}" for number in range(4)]

PMM_VALUES = {"ProfileGroup": "Latex", "Media": "Satin 200", "Mode": "8 pass"}

# Those take no number for a text (decision R5).
TEXTS_ONLY = {"ResourceType", "Domain"}
# An empty one isn't given (decision L7).
FILTERS = {"SerialNumber", "User", "Source", "Version", "Computer", "DateTime", "LogType", "From", "To"}
NUMBER_AS_TEXT = {"type": "string", "pattern": r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"}
NO_MORE = {"maximum": 0}


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.meta is not None and case.meta.generation.mode is GenerationMode.POSITIVE:
        consistent(case)


def consistent(case):
    """Lets it speak of what is there, and its checksum be that of its file."""
    known(case.path_parameters or {}, "ResourceGUID", RESOURCES)
    if "Timestamp" in (case.headers or {}):
        # Only what is newer than all before is accepted (decision T2).
        case.headers["Timestamp"] = datetime.datetime.now(datetime.timezone.utc).isoformat()
    body = case.body
    if isinstance(body, list) and len(body) == 1:
        body = body[0]
    if not isinstance(body, dict):
        return
    for name, guid in FLEET.items():
        known(body, name, [guid])
    if isinstance(body.get("JsonString"), dict):
        known(body["JsonString"], "ResourceGUID", RESOURCES)
        body["JsonString"]["ResourceChecksum"] = hashlib.sha1(content_of(body.get("file", b""))).hexdigest()
        if isinstance(body["JsonString"].get("Meta"), dict):
            body["JsonString"]["Meta"].update(PMM_VALUES)
    if set(PMM_VALUES) <= set(body) and isinstance(body["Mode"], str) and len(body["Mode"]) % 2:
        body.update(PMM_VALUES)


def content_of(file):
    content = getattr(file, "data", file)
    return content.encode() if isinstance(content, str) else bytes(content)


def known(values, name, guids):
    """Most GUIDs become known ones; which, depends on nothing but the value itself."""
    value = values.get(name)
    if isinstance(value, str) and value:
        choice = hashlib.sha1(value.encode("utf-8", "replace")).digest()
        if choice[0] % 4:
            values[name] = guids[choice[1] % len(guids)]


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Keeps all failures but those over what the document tells in words."""
    return not (isinstance(failure, AcceptedNegativeData) and tolerated(case))


def tolerated(case):
    body = case.body
    content = case.operation.definition.raw.get("requestBody", {}).get("content", {})
    if "application/json" in content:
        schema = content["application/json"]["schema"]
    elif isinstance(body, dict) and isinstance(body.get("JsonString"), (dict, list)):
        schema, body = {"$ref": "#/components/schemas/ResourceDescription"}, body["JsonString"]
    elif isinstance(body, dict):
        # On the way every part is bytes, and any bytes may be a call stack (decisions C1, C4).
        return "CallStack" in body
    else:
        return False
    schemas = copy.deepcopy(case.operation.schema.raw_schema["components"]["schemas"])
    schemas = {name: widened(name, schema) for name, schema in schemas.items()}
    wrapped = {"type": "array", "items": schema, "minItems": 1, "maxItems": 1}
    wide = {"anyOf": [schema, wrapped], "components": {"schemas": schemas}}
    return jsonschema_rs.validator_for(wide).is_valid(body)


def widened(name, schema):
    """The schema of an object with all that is taken for its members."""
    if schema.get("type") != "object":
        return schema
    schema.pop("additionalProperties", None)
    required = schema.get("required", [])
    members = schema["properties"]
    for member, described in members.items():
        if described.get("type") == "object":
            described = widened(member, described)
        also = taken_beside(member, described)
        if member not in required:
            also.append({"type": "null"})
        members[member] = {"anyOf": [described, *also]}
    if schema.pop("minProperties", None):
        # Members that the schema doesn't name may stand beside, but don't count.
        schema["anyOf"] = [{"required": [member]} for member in members]
    if schema.pop("maxProperties", None):
        # Zeros beside the one count as absent (decision D3).
        others = [{other: NO_MORE for other in members if other != member} for member in members]
        schema = {"allOf": [schema, {"anyOf": [{"properties": zeros} for zeros in others]}]}
    return schema


def taken_beside(member, described):
    kind = described.get("type")
    also = [{"enum": ["", {}]}] if member in FILTERS else []
    if kind in ("number", "integer"):
        also.append(NUMBER_AS_TEXT)
    elif "enum" in described:
        words = "|".join(either_case(word) for word in described["enum"])
        also.append({"type": "string", "pattern": f"^({words})$"})
    elif kind == "string" and member not in TEXTS_ONLY:
        also.append({"type": "number"})
        if not {"format", "pattern", "minLength"} & described.keys():
            # An optional text of any other type counts as absent.
            also.append({})
    elif kind == "array" and member == "RemainingInks":
        # A single object counts as an array of one (decision D4).
        also.append(described["items"])
    return also


def either_case(word):
    return "".join(f"[{letter.lower()}{letter.upper()}]" for letter in word)

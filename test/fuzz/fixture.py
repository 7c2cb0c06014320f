"""The callers of a fuzz run, and what exists in the service: the content of the file FUZZ_FIXTURE (see service.ts)."""

import json
import os
import random
import threading

with open(os.environ["FUZZ_FIXTURE"], encoding="utf-8") as file:
    FIXTURE = json.load(file)

LOCK = threading.Lock()
CHOICE = random.Random(FIXTURE["seed"])

GENERATING = {"createGeneration", "createPlaygroundGeneration"}
BY_KEY = {"createGeneration"}
BY_EITHER = {"getGeneration", "listGenerations", "listIdentities", "createUpload"}
PUBLIC = {"getHealth", "getOpenApi"}

# How often each identity is used. Most often it is the one that takes reference images.
IDENTITIES = {"citrine": 70, "aurora": 16, "drift": 4, "ember": 4, "flint": 4, "glacier": 1}
NAME_OF = {FIXTURE["identities"][name]: name for name in IDENTITIES}
# The one error code of each identity that always fails.
FAILING = {"ember": "IDENTITY_UNAVAILABLE", "flint": "GENERATION_FAILED", "glacier": "TIMEOUT"}


class Account:
    """A caller, and the ids of what was seen to belong to it."""

    def __init__(self, keys, session, licenseIds):
        self.keys = keys
        self.session = session
        self.license_ids = licenseIds
        self.request_ids, self.upload_ids, self.key_ids, self.cursors = [], [], [], []


ACCOUNTS = [Account(**account) for account in FIXTURE["accounts"]]
BY_TOKEN = {token: account for account in ACCOUNTS for token in [*account.keys, account.session]}
TURN = iter(range(10**12))


def operation_id(case):
    return case.operation.definition.raw.get("operationId", case.operation.label)


def json_of(response):
    try:
        body = json.loads(response.content)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}

"""What schemathesis has to know of this API: the callers, the values to send, checks besides its own, and false positives.
The callers and what exists in the service are in the file FUZZ_FIXTURE (see service.ts). The counts go to FUZZ_SUMMARY.
"""

import atexit
import json
import os
import random
import re
from collections import Counter, defaultdict

import jsonschema_rs
import requests
import schemathesis
from schemathesis.failure_codes import (
    RejectedPositiveData,
    ServerError,
    UnsupportedMethodResponse,
    UseAfterFree,
)

# --- The callers -----------------------------------------------------------------------------------------------------

with open(os.environ["FUZZ_FIXTURE"], encoding="utf-8") as file:
    FIXTURE = json.load(file)

CHOICE = random.Random(FIXTURE["seed"])

GENERATING = {"createGeneration", "createPlaygroundGeneration"}
BY_KEY = {"createGeneration"}
BY_EITHER = {"getGeneration", "listGenerations", "listIdentities", "getIdentity", "createUpload"}
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


# --- The document ----------------------------------------------------------------------------------------------------

EVENT_CHECKS = {}


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """Answers may get more members and values later; today they have none that the document does not name."""
    schemas = raw_schema["components"]["schemas"]
    for schema in schemas.values():
        close(schema)
    for name in schemas["GenerationEvents"]["properties"]:
        ref = f"#/components/schemas/GenerationEvents/properties/{name}"
        EVENT_CHECKS[name] = jsonschema_rs.validator_for({"$ref": ref, "components": {"schemas": schemas}})
    for response in raw_schema["components"]["responses"].values():
        # Schemathesis takes this schema for that of each event. OpenAPI has a place for such a schema only from 3.2 on.
        response.get("content", {}).get("text/event-stream", {}).pop("schema", None)


def close(schema):
    if isinstance(schema, list):
        for item in schema:
            close(item)
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "object" and "properties" in schema:
        schema["additionalProperties"] = False
    if "x-extensible-enum" in schema:
        schema["enum"] = [*schema["x-extensible-enum"], None]
    for value in schema.values():
        close(value)


# --- Requests --------------------------------------------------------------------------------------------------------


@schemathesis.auth(refresh_interval=None)
class Credentials:
    """A key or a session of the next account, whichever the operation takes."""

    def get(self, case, context):
        """For an operation on a stored thing, mostly an account that has one."""
        wanted = {"getGeneration": "request_ids", "listGenerations": "cursors", "revokeKey": "key_ids"}
        own = wanted.get(operation_id(case))
        owners = [account for account in ACCOUNTS if own and getattr(account, own)]
        return one_of(owners) if owners and chance(0.7) else ACCOUNTS[next(TURN) % len(ACCOUNTS)]

    def set(self, case, account, context):
        name = operation_id(case)
        if name in PUBLIC:
            return
        by_session = name not in BY_KEY | BY_EITHER or (
            name in BY_EITHER
            and ("licenseId" in (case.query or {}) or has_member(case.body, "licenseId") or chance(0.3))
        )
        token = account.session if by_session else one_of(account.keys)
        case.headers["Authorization"] = f"Bearer {token}" if chance(0.96) else spoilt(token)


def spoilt(token):
    """A text that is almost a credential, and not valid."""
    return one_of(["", "Bearer", token, f"Basic {token}", f"Bearer {token[:-1]}", f"Bearer {token}x", f"Bearer {token} x"])


def has_member(body, name):
    return isinstance(body, dict) and name in body


def chance(of):
    return CHOICE.random() < of


def one_of(values):
    return CHOICE.choice(values)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Replaces most ids by ids that exist. A value that breaks its rule is sent as it is."""
    account = account_of(case)
    if account is not None:
        fill_path(case, account)
        fill_query(case, account)
        if isinstance(case.body, dict):
            body = fill_body(operation_id(case), case.body, account)
            if body != case.body:
                case.body = body
    if operation_id(case) in GENERATING and chance(0.1):
        case.headers["Accept"] = "text/event-stream"
    COUNTS["cases"] += 1


def account_of(case):
    return BY_TOKEN.get(str(case.headers.get("Authorization", "")).removeprefix("Bearer "))


def fill_path(case, account):
    known = {"requestId": account.request_ids, "keyId": account.key_ids, "identityId": list(NAME_OF)}
    for name, values in known.items():
        if name in (case.path_parameters or {}) and values and chance(0.8):
            case.path_parameters[name] = one_of(values)


def fill_query(case, account):
    query = case.query or {}
    by_session = account.session in str(case.headers["Authorization"])
    if is_text(query.get("licenseId")) and chance(0.9):
        query["licenseId"] = license_of(account)
    elif operation_id(case) == "listGenerations" and by_session and "licenseId" not in query and chance(0.9):
        query["licenseId"] = license_of(account)
    if is_text(query.get("cursor")):
        # No schema knows a made-up cursor from a real one, so it is mostly replaced or left out.
        if account.cursors and chance(0.7):
            query["cursor"] = one_of(account.cursors)
        elif chance(0.8):
            del query["cursor"]
    if is_text(query.get("identityId")) and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}", query["identityId"]):
        query["identityId"] = identity()


def fill_body(name, body, account):
    body = dict(body)
    if is_text(body.get("licenseId")) and chance(0.9):
        body["licenseId"] = license_of(account)
    if name in GENERATING:
        if is_text(body.get("identityId")) and chance(0.97):
            body["identityId"] = identity()
        # No schema knows which versions an identity has.
        version = body.get("identityVersion")
        if type(version) is int and 1 <= version <= 999_999 and chance(0.9):
            body["identityVersion"] = 1
        items = body.get("referenceImages")
        if isinstance(items, list):
            body["referenceImages"] = [fill_reference(item, account) for item in items]
    return body


def fill_reference(item, account):
    """Replaces most links by links into the small internet of the tests: no request goes to strangers."""
    if not isinstance(item, dict):
        return item
    item = dict(item)
    url = item.get("url")
    if is_text(url) and re.match(r"^[Hh][Tt][Tt][Pp][Ss]://[^/?#@\x00-\x20\x7f\\]+([/?#]|$)", url) and chance(0.9):
        if len(url) <= 2048 and not re.search(r"[\x00-\x20\x7f\\]", url):
            item["url"] = FIXTURE["pictureUrl"] + one_of(["", "?again", "#there", "/missing"])
    upload = item.get("uploadId")
    if is_text(upload) and 0 < len(upload) <= 100 and "\0" not in upload and upload.strip() and account.upload_ids:
        item["uploadId"] = one_of(account.upload_ids)
    return item


def is_text(value):
    return isinstance(value, str) and value != ""


def license_of(account):
    return account.license_ids[0] if chance(0.8) else one_of(account.license_ids)


def identity():
    [name] = CHOICE.choices(list(IDENTITIES), list(IDENTITIES.values()))
    return FIXTURE["identities"][name]


# --- Answers ---------------------------------------------------------------------------------------------------------

COUNTS = Counter()
ANSWERS = defaultdict(Counter)
FALSE_POSITIVES = Counter()
FAILURES = Counter()


@schemathesis.hook
def after_call(context, case, response):
    name = operation_id(case)
    body = json_of(response)
    method = response.request.method
    where = name if method.upper() == case.operation.method.upper() else "another method"
    ANSWERS[where][f"{response.status_code} {body.get('code', '')}".strip()] += 1
    account = account_of(case)
    if account is not None and 200 <= response.status_code < 300:
        remember(name, body, account)


def remember(name, body, account):
    if name in GENERATING and "requestId" in body:
        account.request_ids.append(body["requestId"])
        COUNTS["references"] += body["referenceImagesUsed"]
    if name == "createKey" and "keyId" in body:
        account.key_ids.append(body["keyId"])
    if name == "listGenerations" and body.get("nextCursor"):
        account.cursors.append(body["nextCursor"])
    if name == "createUpload" and "uploadId" in body and len(account.upload_ids) < 4 and "fields" in body:
        with open(FIXTURE["pictureFile"], "rb") as picture:
            sent = requests.post(body["url"], data=body["fields"], files={"file": picture}, timeout=20)
        if sent.status_code == 204 and f"/{account.license_ids[0]}/" in body["fields"].get("key", ""):
            account.upload_ids.append(body["uploadId"])


@schemathesis.check
def every_answer(ctx, response, case):
    """What docs/errors.md promises for all answers."""
    COUNTS["judged"] += 1
    assert response.headers.get("x-request-id"), "an answer without X-Request-Id"
    if response.status_code < 400:
        return
    body = json_of(response)
    assert sorted(body) == ["code", "error"], "an error has exactly two members"
    sentence = body["error"]
    assert re.search(r"[.!?]$", sentence), "an error is a sentence"
    # Names of the caller are repeated in quotes, and one of them may be `undefined`.
    own_words = re.sub(r'"[^"]*"', "", sentence)
    assert not re.search(r"node:|\.ts:\d|\bat \S+ \(|undefined|\[object", own_words), "an error of ours shows its insides"
    token = str(case.headers.get("Authorization", "")).removeprefix("Bearer ")
    assert len(token) < 20 or token not in sentence, "an error repeats a credential"
    for name in ("prompt", "negativePrompt"):
        text = case.body.get(name) if isinstance(case.body, dict) else None
        assert not isinstance(text, str) or len(text) < 8 or text not in sentence, f"an error repeats the {name}"


@schemathesis.check
def event_streams(ctx, response, case):
    """Accepted first, then started, then progress, and one end; the data of each fits its schema."""
    if not str(response.headers.get("content-type")).startswith("text/event-stream") and not any(
        "event-stream" in value for value in response.headers.get("content-type", [])
    ):
        return
    COUNTS["streams"] += 1
    names = []
    for block in response.content.decode().strip().split("\n\n"):
        event, data = block.split("\n")
        name = event.removeprefix("event: ")
        EVENT_CHECKS[name].validate(json.loads(data.removeprefix("data: ")))
        names.append(name)
    order = re.fullmatch(r"accepted( started( progress)*)? (completed|failed)|completed", " ".join(names))
    assert order, f"events out of order: {', '.join(names)}"


# --- False positives: right answers that a check doubts, each with its reason -----------------------------------------

# Rules that no schema of the document expresses, by the sentence of the refusal: no JSON Schema can, or few tools read it.
BEYOND_SCHEMAS = [
    ("the tier's limit", r"^On the \w+ tier "),
    ("an identity without product photos", r"referenceImages must be left out: \w+ does not take product photos"),
    ("a host that is none, or no public name", r"url must (?:have a (?:valid host name,|host name, not|full host name)|not have a port)"),
    ("a reference image that is none: {}", r"^referenceImages\[\d\]\.(?:url|uploadId): (.*?)[.;:]"),
    ("a version that the identity does not have", r"identityVersion: \w+ has no version \d+"),
    ("members that go together", r'exactly one of url and uploadId|"exact_product" needs|^Send at least one of name, monthlyCredits'),
    ("an expiry in the past", r"^expiresAt must lie in the future\.$"),
    ("more places than the license has", r"^maxInFlight must be at most \d+, as of its license\.$"),
    ("an expiry after the year 9999 in UTC", r"expiresAt must be an ISO 8601 time"),
    ("a cursor that nobody was given", r"^cursor must be the nextCursor of an earlier answer\.$"),
    ("a license named beside a key", r'unknown (query parameter|member) "licenseId"'),
    ("no license named by session", r"licenseId must be the id of one of your licenses"),
]


def false_positive_reason(failure, case, response):
    """Why the answer is right although a check failed; None for a real failure."""
    body = json_of(response)
    code, sentence = body.get("code"), str(body.get("error"))
    if isinstance(failure, UnsupportedMethodResponse):
        # API Gateway never answers 405: an unknown method of a known path is an unknown route.
        return "unknown method: 404 NOT_FOUND" if (response.status_code, code) == (404, "NOT_FOUND") else None
    if isinstance(failure, UseAfterFree):
        # Revoking a key does not remove it: it stays in the list, and may get another name.
        is_revoked_key = operation_id(case) == "updateKey" and body.get("status") == "revoked"
        return "a revoked key that is changed" if is_revoked_key else None
    if isinstance(failure, ServerError) and operation_id(case) in GENERATING:
        sent = case.body.get("identityId") if isinstance(case.body, dict) else None
        name = NAME_OF.get(sent) if isinstance(sent, str) else None
        return f"{name}: {code}" if name in FAILING and FAILING[name] == code else None
    if isinstance(failure, RejectedPositiveData):
        if (response.status_code, code) == (422, "IDEMPOTENCY_MISMATCH"):
            return "an Idempotency-Key that the same API key used before"
        if response.status_code == 400 and code in ("TIER_LIMIT", "INVALID_PARAMETERS"):
            return beyond_schemas(sentence)
    return None


def beyond_schemas(sentence):
    for reason, rule in BEYOND_SCHEMAS:
        found = re.search(rule, sentence)
        if found:
            return reason.format(*found.groups())
    return None


@schemathesis.hook
def filter_failure(context, failure, case, response):
    reason = false_positive_reason(failure, case, response)
    if reason is None:
        FAILURES[f"{operation_id(case)}: {type(failure).__name__}"] += 1
    else:
        FALSE_POSITIVES[reason] += 1
    return reason is None


@atexit.register
def write_summary():
    summary = {
        **{name: COUNTS[name] for name in ("cases", "judged", "streams", "references")},
        "falsePositives": FALSE_POSITIVES,
        "failures": FAILURES,
        "answers": ANSWERS,
    }
    with open(os.environ["FUZZ_SUMMARY"], "w", encoding="utf-8") as out:
        json.dump(summary, out)

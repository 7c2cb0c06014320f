"""Right answers that a check of schemathesis doubts, each with its reason."""

import re

from schemathesis.failure_codes import (
    RejectedPositiveData,
    ServerError,
    UnsupportedMethodResponse,
    UseAfterFree,
)

from fixture import FAILING, GENERATING, NAME_OF, json_of, operation_id

# Rules that no schema of the document expresses, by the sentence of the refusal: no JSON Schema can, or few tools read it.
BEYOND_SCHEMAS = [
    ("the tier's limit", r"^On the \w+ tier "),
    ("an identity without product photos", r"referenceImages must be left out: \w+ does not take product photos"),
    ("a host that is none, or no public name", r"url must (?:have a (?:valid host name,|host name, not|full host name)|not have a port)"),
    ("a reference image that is none: {}", r"^referenceImages\[\d\]\.(?:url|uploadId): (.*?)[.;:]"),
    ("members that go together", r'exactly one of url and uploadId|"exact_product" needs|^Send name, monthlyCredits or both'),
    ("an expiry in the past", r"^expiresAt must lie in the future\.$"),
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

"""Does what standard input lists (`Case` in cases.ts) with OpenAI's SDK for Python."""

import json
import sys
from base64 import b64decode
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai

small = {"model": "aurora", "prompt": "a quiet test", "size": "512x512"}


def images(client: openai.OpenAI, body: dict[str, Any], options: dict[str, Any]) -> Any:
    raw = client.images.with_raw_response.generate(**body, **options)
    answer = raw.parse().model_dump(exclude_none=True)
    return {**answer, "requestId": raw.request_id, "replayed": raw.headers.get("idempotent-replayed")}


def at_once(client: openai.OpenAI, body: dict[str, Any], options: dict[str, Any]) -> Any:
    with ThreadPoolExecutor(2) as pool:
        # Two wishes that can be told apart: a later try of one that was refused may have an equal one's result.
        wishes = [{**body, "prompt": f"{body['prompt']}, {number}"} for number in range(2)]
        running = [pool.submit(images, client, wish, options) for wish in wishes]
        return [one.result() for one in running]


def stream(client: openai.OpenAI, body: dict[str, Any], options: dict[str, Any]) -> Any:
    return [event.model_dump() for event in client.images.generate(**body, **options, stream=True)]


def edit(client: openai.OpenAI, body: dict[str, Any], options: dict[str, Any]) -> Any:
    files = {name: b64decode(body[name]) for name in ("mask",) if name in body}
    images = [b64decode(image) for image in body["image"]]
    sent = {**body, **files, "image": images if len(images) > 1 else images[0]}
    answer = client.images.edit(**sent, **options)
    return [event.model_dump() for event in answer] if body.get("stream") else answer.model_dump()


calls = {
    "images": images,
    "twice": lambda *of: [images(*of), images(*of)],
    "at-once": at_once,
    "stream": stream,
    "models": lambda client, *_: [model.model_dump() for model in client.models.list()],
    "model": lambda client, body, _: client.models.retrieve(body["model"]).model_dump(),
    "edit": edit,
    "edit-json": lambda client, body, _: client.post("/images/edits", body=body, cast_to=object),
    "vary": lambda client, _, __: client.post("/images/variations", body={}, cast_to=object),
    "chat": lambda client, body, _: client.chat.completions.create(model=body["model"], messages=[]),
}


def outcome_of(one: dict[str, Any]) -> dict[str, Any]:
    client = openai.OpenAI(
        base_url=one["baseUrl"], api_key=one["key"], max_retries=one.get("maxRetries", 0)
    )
    options = {"extra_body": one.get("extra"), "extra_headers": one.get("headers")}
    try:
        return {"ok": calls[one["call"]](client, {**small, **one.get("body", {})}, options)}
    except openai.APIError as error:
        known = {name: getattr(error, name) for name in ("code", "param", "type", "message")}
        status = getattr(error, "status_code", None)
        request_id = getattr(error, "request_id", None)
        return {"error": {"name": type(error).__name__, "status": status, "requestId": request_id, **known}}


json.dump({one["name"]: outcome_of(one) for one in json.load(sys.stdin)}, sys.stdout)

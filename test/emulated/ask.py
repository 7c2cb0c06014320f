"""Any operation of AWS by its own Python SDK, for tests: a question a line on stdin, its answer a line on stdout, both JSON."""

import json
import sys

import boto3

clients = {}


def client(service, credentials):
    """One client for each service and caller; without credentials the environment's."""
    name = (service, *credentials.values())
    if name not in clients:
        clients[name] = boto3.client(service, **credentials)
    return clients[name]


for line in sys.stdin:
    service, operation, parameters, credentials = json.loads(line)
    try:
        answer = {"value": getattr(client(service, credentials), operation)(**parameters)}
    except Exception as error:
        answer = {"error": f"{service} {operation}: {error}"}
    print(json.dumps(answer, default=str), flush=True)

"""Any operation of AWS by its own Python SDK, for tests: a question a line on stdin, its answer a line on stdout, both JSON."""

import json
import sys

import boto3

clients = {}
for line in sys.stdin:
    service, operation, parameters = json.loads(line)
    try:
        if service not in clients:
            clients[service] = boto3.client(service)
        answer = {"value": getattr(clients[service], operation)(**parameters)}
    except Exception as error:
        answer = {"error": f"{service} {operation}: {error}"}
    print(json.dumps(answer, default=str), flush=True)

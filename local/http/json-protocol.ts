import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody } from './read-body.ts';
import { isSigned, type SigningScope } from './signed.ts';

export interface JsonOperation {
  /** As the header `x-amz-target` names it: `SageMaker.DescribeInferenceComponent`. */
  target: string;
  signing: SigningScope;
  maxBodyBytes: number;
  /** @returns the answer. @throws JsonFault */
  perform(body: Buffer): object;
}

/** An error for the client. */
export class JsonFault extends Error {
  readonly type: string;
  readonly status: number;

  constructor(type: string, message: string, status = 400) {
    super(message);
    this.type = type;
    this.status = status;
  }
}

/** Serves the one operation that an engine has, in AWS's JSON protocol 1.1. */
export async function serveJsonProtocol(
  request: IncomingMessage,
  response: ServerResponse,
  operation: JsonOperation,
): Promise<void> {
  try {
    send(response, 200, operation.perform(await takeBody(request, operation)));
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    send(response, error.status, { __type: error.type, message: error.message });
  }
}

async function takeBody(request: IncomingMessage, { target, signing, maxBodyBytes }: JsonOperation) {
  const body = await readBody(request, maxBodyBytes);
  if (body === null) throw new JsonFault('RequestEntityTooLargeException', 'The body is too large.', 413);
  if (!(await isSigned(request, body, signing))) {
    const message = 'The request signature we calculated does not match the signature you provided.';
    throw new JsonFault('InvalidSignatureException', message, 403);
  }
  if (request.headers['x-amz-target'] === target) return body;
  throw new JsonFault('UnknownOperationException', `This engine serves ${target.split('.')[1]}.`);
}

function send(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
  response.end(JSON.stringify(value));
}

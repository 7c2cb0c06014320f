import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBody } from './read-body.ts';
import { AwsFault } from './rest.ts';
import { isSigned, type SigningScope } from './signed.ts';

export interface JsonOperation {
  /** As the header `x-amz-target` names them: `SageMaker.DescribeInferenceComponent`. */
  targets: string[];
  /** Null where the body itself says who may ask. */
  signing: SigningScope | null;
  maxBodyBytes: number;
  /** Of the protocol; 1.1 where none is named. */
  version?: '1.0' | '1.1';
  /** @returns the answer. @throws AwsFault */
  perform(body: Buffer, target: string): object | Promise<object>;
}

/** Serves the operations that an engine has, in AWS's JSON protocol. */
export async function serveJsonProtocol(
  request: IncomingMessage,
  response: ServerResponse,
  operation: JsonOperation,
): Promise<void> {
  try {
    const body = await takeBody(request, operation);
    send(response, operation, 200, await operation.perform(body, String(request.headers['x-amz-target'])));
  } catch (error) {
    if (!(error instanceof AwsFault)) throw error;
    send(response, operation, error.status, { __type: error.type, message: error.message });
  }
}

async function takeBody(request: IncomingMessage, { targets, signing, maxBodyBytes }: JsonOperation) {
  const body = await readBody(request, maxBodyBytes);
  if (body === null) throw new AwsFault('RequestEntityTooLargeException', 'The body is too large.', 413);
  if (signing !== null && !(await isSigned(request, body, signing))) {
    const message = 'The request signature we calculated does not match the signature you provided.';
    throw new AwsFault('InvalidSignatureException', message, 403);
  }
  if (targets.includes(String(request.headers['x-amz-target']))) return body;
  const served = targets.map((target) => target.split('.')[1]).join(', ');
  throw new AwsFault('UnknownOperationException', `This engine serves ${served}.`);
}

function send(
  response: ServerResponse,
  { version = '1.1' }: JsonOperation,
  status: number,
  value: object,
): void {
  response.writeHead(status, { 'content-type': `application/x-amz-json-${version}` });
  response.end(JSON.stringify(value));
}

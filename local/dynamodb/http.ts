import { randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { readBody } from '../http/read-body.ts';
import { fault, isFault } from './faults.ts';

const maxRequestBytes = 16 * 1024 * 1024;

export type Perform = (operation: string, body: Record<string, unknown>) => Promise<unknown>;

/** The parts of a request that the protocol reads, whatever transport brought it. */
export interface ProtocolRequest {
  /** The header `x-amz-target`, which names the operation. */
  target: string | undefined;
  authorization: string | undefined;
  /** The body; undefined when it is larger than the protocol takes. */
  text: string | undefined;
}

/** Speaks DynamoDB's JSON protocol: the operation in `x-amz-target`, JSON in and out, errors with `__type`. */
export function dynamoDbListener(perform: Perform): RequestListener {
  return async (request, response) => {
    try {
      const { 'x-amz-target': target, authorization } = request.headers;
      const text = (await readBody(request, maxRequestBytes))?.toString();
      const [status, body] = await answerRequest(
        { target: target?.toString(), authorization, text },
        perform,
      );
      response.setHeader('x-amzn-requestid', randomUUID());
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' });
      response.end(JSON.stringify(body === '' ? {} : body));
    } catch {
      // A client that goes away before its request is complete gets no answer, and disturbs nobody else.
      response.destroy();
    }
  };
}

/** Answers one request of the protocol: a status and the body to be sent as JSON. */
export async function answerRequest(
  { target, authorization, text }: ProtocolRequest,
  perform: Perform,
): Promise<readonly [status: number, body: unknown]> {
  if (text === undefined) return [413, { message: 'The request is larger than 16 MB.' }];
  try {
    const [version, operation] = (target ?? '').split('.');
    if (version !== 'DynamoDB_20120810' || !operation) {
      throw fault('UnknownOperationException', 'The header x-amz-target names no DynamoDB operation.');
    }
    if (!authorization?.startsWith('AWS4-')) {
      throw fault('MissingAuthenticationTokenException', 'Request is missing Authentication Token');
    }
    return [200, await perform(operation, parse(text))];
  } catch (error) {
    if (isFault(error)) return [error.statusCode, error.body];
    const what = error instanceof Error ? error.message : String(error);
    const { body } = fault('InternalServerError', `The embedded DynamoDB engine failed: ${what}`);
    return [500, body];
  }
}

function parse(text: string): Record<string, unknown> {
  const body: unknown = text.startsWith('{') ? tryParse(text) : undefined;
  if (body === undefined) throw fault('SerializationException', 'The request is not a JSON object.');
  return body as Record<string, unknown>;
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

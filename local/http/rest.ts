import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { readBody } from './read-body.ts';
import { listen, type RunningServer } from './server.ts';
import { isSigned, type SigningScope } from './signed.ts';

/** An error for the client. */
export class AwsFault extends Error {
  readonly type: string;
  readonly status: number;

  constructor(type: string, message: string, status = 400) {
    super(message);
    this.type = type;
    this.status = status;
  }
}

export interface RestAnswer {
  status: number;
  headers?: Record<string, string>;
  /** Sent as JSON; left out for no body. */
  value?: unknown;
}

export interface RestOptions extends SigningScope {
  maxBodyBytes: number;
  /** The service's name for a wrong signature. */
  signatureFault: string;
}

/**
 * Starts an engine that speaks AWS's REST protocol with JSON, for requests that are signed.
 * @param answer throws AwsFault for the client's faults.
 */
export function startRest(
  { maxBodyBytes, signatureFault, ...scope }: RestOptions,
  answer: (request: IncomingMessage, body: Buffer) => Promise<RestAnswer>,
): Promise<RunningServer> {
  const answerSigned = async (request: IncomingMessage): Promise<RestAnswer> => {
    const body = await readBody(request, maxBodyBytes);
    if (body === null) {
      throw new AwsFault('RequestTooLargeException', `At most ${maxBodyBytes} bytes are taken.`, 413);
    }
    if (await isSigned(request, body, scope)) return answer(request, body);
    throw new AwsFault(signatureFault, 'The signature does not match the request.', 403);
  };
  const server = createServer(async (request, response) => {
    const { status, headers, value } = await answerSigned(request).catch(faultAnswer);
    response.setHeader('x-amzn-requestid', randomUUID());
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(value === undefined ? '' : JSON.stringify(value));
  });
  return listen(server);
}

function faultAnswer(error: unknown): RestAnswer {
  const internal = new AwsFault('ServiceException', 'An internal failure occurred.', 500);
  const { type, status, message } = error instanceof AwsFault ? error : internal;
  // Of a body that is too large, the rest is not read.
  const headers = { 'x-amzn-errortype': type, ...(status === 413 && { connection: 'close' }) };
  return { status, headers, value: { Type: 'User', Message: message } };
}

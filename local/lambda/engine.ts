import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';

export interface LambdaOptions {
  /** By name: what a function does with an event. */
  functions: Record<string, (event: any) => Promise<unknown>>;
  credentials: { accessKeyId: string; secretAccessKey: string };
  region: string;
}

export interface LambdaEngine {
  url: string;
  close(): Promise<void>;
}

/** Where a function is invoked, below the engine's or AWS's own address (AWS Lambda API, "Invoke"). */
export function invocationPath(functionName: string): string {
  return `/2015-03-31/functions/${functionName}/invocations`;
}

/** AWS's own, for an event and for an answer. */
const maxPayloadBytes = 6 * 1024 * 1024;

/** Starts Lambda's Invoke in front of functions of this process, waited for (`RequestResponse`). */
export async function startLambda(options: LambdaOptions): Promise<LambdaEngine> {
  const server = createServer((request, response) => {
    response.setHeader('x-amzn-requestid', randomUUID());
    serve(request, response, options).catch(() => {
      if (response.headersSent) response.destroy();
      else fail(response, 500, 'ServiceException', 'An internal failure occurred.');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  options: LambdaOptions,
): Promise<void> {
  const name = /^\/2015-03-31\/functions\/([\w-]+)\/invocations$/.exec(request.url ?? '')?.[1];
  if (name === undefined || request.method !== 'POST') {
    return fail(response, 404, 'UnknownOperationException', 'This engine serves Invoke.');
  }
  const body = await readBody(request);
  if (body === null) {
    response.setHeader('connection', 'close');
    return fail(response, 413, 'RequestTooLargeException', `At most ${maxPayloadBytes} bytes are taken.`);
  }
  if (!(await isSigned(request, body, options))) {
    return fail(response, 403, 'InvalidSignatureException', 'The signature does not match the request.');
  }
  const run = Object.hasOwn(options.functions, name) ? options.functions[name] : undefined;
  if (run === undefined)
    return fail(response, 404, 'ResourceNotFoundException', `Function not found: ${name}`);
  let event: unknown;
  try {
    event = JSON.parse(body.toString());
  } catch {
    return fail(response, 400, 'InvalidRequestContentException', 'The event is not JSON.');
  }
  await answer(response, run, event);
}

/** What a function throws is an answer too: status 200, marked. */
async function answer(
  response: ServerResponse,
  run: (event: unknown) => Promise<unknown>,
  event: unknown,
): Promise<void> {
  response.setHeader('x-amz-executed-version', '$LATEST');
  const payload = await run(event).catch((error: unknown) => {
    response.setHeader('x-amz-function-error', 'Unhandled');
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    return { errorType: name, errorMessage: message };
  });
  send(response, 200, payload ?? null);
}

/** Signs the request once more as its sender should have (AWS, "Signature Version 4 signing process"). */
async function isSigned(
  { headers, method, url }: IncomingMessage,
  body: Buffer,
  { credentials, region }: LambdaOptions,
): Promise<boolean> {
  const sent = headers.authorization ?? '';
  const names = /SignedHeaders=([\w;-]+),/.exec(sent)?.[1]?.split(';') ?? [];
  const time = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(headers['x-amz-date']));
  const contents = headers['x-amz-content-sha256'];
  if (time === null || !names.includes('host')) return false;
  // The signer takes the header's word for what the body hashes to.
  if (contents !== undefined && contents !== createHash('sha256').update(body).digest('hex')) return false;
  const [, year, month, day, hour, minute, second] = time;
  const signer = new SignatureV4({ service: 'lambda', region, credentials, sha256: Sha256 });
  const again = await signer.sign(
    {
      method: method!,
      protocol: 'http:',
      hostname: '',
      path: url!,
      query: {},
      headers: Object.fromEntries(names.map((name) => [name, String(headers[name])])),
      body,
    },
    { signingDate: new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) },
  );
  const expected = Buffer.from(again.headers.authorization!);
  return sent.length === expected.length && timingSafeEqual(Buffer.from(sent), expected);
}

async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxPayloadBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function fail(response: ServerResponse, status: number, type: string, message: string): void {
  response.setHeader('x-amzn-errortype', type);
  send(response, status, { Type: 'User', Message: message });
}

function send(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { bucketCors } from '../../shared/routes/api.ts';
import { S3Error } from './errors.ts';
import { perform } from './operations.ts';
import { isFormUpload, postObject } from './presigned-post.ts';
import { parseRequest } from './request.ts';
import { createSigner } from './signature.ts';
import { openStore } from './store.ts';
import { sendXml, textElement } from './xml.ts';

export interface ObjectStoreOptions {
  /** Where the objects live; made when it is missing. One process at a time may have it. */
  folder: string;
  bucketName: string;
  credentials: { accessKeyId: string; secretAccessKey: string };
  region: string;
  /** @default the machine's clock */
  clock?: () => Date;
  /** @default 64 MiB */
  maxObjectBytes?: number;
}

export interface ObjectStore {
  /** Answers any request, whatever it holds; never rejects. */
  handle(req: IncomingMessage, res: ServerResponse): Promise<void>;
}

/**
 * An S3-compatible store on disk, as a handler to mount where `/{bucket}` and `/{bucket}/{key…}` arrive unchanged:
 * the signature covers the path, and a key may hold `..`, so nothing may normalise the URL first.
 */
export async function createObjectStore(options: ObjectStoreOptions): Promise<ObjectStore> {
  const { folder, bucketName, credentials, region, clock = () => new Date() } = options;
  const { maxObjectBytes = 64 * 1024 * 1024 } = options;
  const partsFolder = join(folder, '.parts');
  rmSync(partsFolder, { recursive: true, force: true });
  const service = {
    bucketName,
    store: openStore(folder, bucketName),
    parts: openStore(partsFolder, bucketName),
    signer: createSigner({ credentials, region, clock }),
    maxObjectBytes,
  };

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const requestId = randomBytes(8).toString('hex').toUpperCase();
    try {
      res.setHeader('x-amz-request-id', requestId);
      // The signer's clock and the answer's must agree: clients correct their own by this header.
      res.setHeader('date', clock().toUTCString());
      if (req.method === 'OPTIONS') return answerPreflight(req, res);
      res.setHeaders(corsHeaders(req.headers.origin, req.method));
      const request = parseRequest(req);
      await (isFormUpload(request) ? postObject : perform)(service, request, res);
    } catch (error) {
      const clientIsGone = req.socket.destroyed;
      if (!(error instanceof S3Error) && !clientIsGone) {
        console.error(`The object store failed on request ${requestId}:`, error);
      }
      // The rest of a refused body must be read, or the connection could carry no further request.
      req.resume();
      sendError(req, res, error, requestId);
    }
  }
  return { handle };
}

/** Answers a browser that asks before it sends the request. That it asks is never signed. */
function answerPreflight({ headers }: IncomingMessage, res: ServerResponse): void {
  const method = headers['access-control-request-method'];
  if (headers.origin === undefined || method === undefined) throw new S3Error('InvalidRequest');
  const allowed = corsHeaders(headers.origin, method);
  if (allowed.size === 0) throw new S3Error('AccessForbidden');
  const asked = headers['access-control-request-headers'];
  if (asked !== undefined) allowed.set('access-control-allow-headers', asked);
  res.setHeaders(allowed).writeHead(200, { 'content-length': 0 }).end();
}

/** As S3 sends them, refusals included: for a page of any origin that uses a link by an allowed method; otherwise none. */
function corsHeaders(origin: string | undefined, method: string | undefined): Map<string, string> {
  if (origin === undefined || !bucketCors.methods.some((allowed) => allowed === method)) return new Map();
  return new Map([
    ['access-control-allow-origin', '*'],
    ['access-control-allow-methods', bucketCors.methods.join(', ')],
    ['access-control-expose-headers', bucketCors.responseHeader],
    ['access-control-max-age', String(bucketCors.maxAgeSeconds)],
    ['vary', 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method'],
  ]);
}

function sendError(req: IncomingMessage, res: ServerResponse, error: unknown, requestId: string): void {
  // The client must notice that the body is incomplete.
  if (res.headersSent) return void res.destroy();
  const { code, status, message, details } = error instanceof S3Error ? error : new S3Error('InternalError');
  // Without the query: it may hold a signature.
  const [resource = ''] = (req.url ?? '').split('?');
  const elements = { Code: code, Message: message, ...details, Resource: resource, RequestId: requestId };
  const body = Object.entries(elements).map(([name, text]) => textElement(name, text));
  sendXml(res, status, 'Error', body);
}

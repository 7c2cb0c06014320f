import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { S3Error } from './errors.ts';
import { perform } from './operations.ts';
import { parseRequest } from './request.ts';
import { createSigner } from './signature.ts';
import { openStore } from './store.ts';
import { sendXml, textElement, xmlDocument } from './xml.ts';

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

const defaultMaxObjectBytes = 64 * 1024 * 1024;
const corsMethods = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE'];
const corsMaxAgeSeconds = 3000;

/**
 * An S3-compatible store on disk, as a handler to mount where `/{bucket}` and `/{bucket}/{key…}` arrive unchanged:
 * the signature covers the path, and a key may hold `..`, so nothing may normalise the URL first.
 */
export async function createObjectStore(options: ObjectStoreOptions): Promise<ObjectStore> {
  const { folder, bucketName, credentials, region, clock = () => new Date() } = options;
  const { maxObjectBytes = defaultMaxObjectBytes } = options;
  const service = {
    bucketName,
    store: openStore(folder, bucketName),
    signer: createSigner({ credentials, region, clock }),
    maxObjectBytes,
  };

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const requestId = randomBytes(8).toString('hex').toUpperCase();
    try {
      res.setHeader('x-amz-request-id', requestId);
      // The signer's clock and the answer's must agree: clients correct their own by this header.
      res.setHeader('date', clock().toUTCString());
      // A page of any origin may use a link that it was given, and read why it was refused.
      res.setHeader('access-control-allow-origin', '*');
      res.setHeader('access-control-expose-headers', 'ETag');
      if (req.method === 'OPTIONS') answerPreflight(req, res);
      else await perform(service, parseRequest(req), res);
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

/** Answers a browser's question before it sends the request; such a question is never signed. */
function answerPreflight({ headers }: IncomingMessage, res: ServerResponse): void {
  const method = headers['access-control-request-method'];
  if (headers.origin === undefined || method === undefined) {
    throw new S3Error('InvalidRequest', 'Insufficient information. Origin and request method are needed.');
  }
  if (!corsMethods.includes(method)) throw new S3Error('AccessForbidden');
  const asked = headers['access-control-request-headers'];
  if (asked !== undefined) res.setHeader('access-control-allow-headers', asked);
  res.writeHead(200, {
    'access-control-allow-methods': corsMethods.join(', '),
    'access-control-max-age': String(corsMaxAgeSeconds),
    'content-length': 0,
  });
  res.end();
}

function sendError(req: IncomingMessage, res: ServerResponse, error: unknown, requestId: string): void {
  if (res.headersSent) {
    // The client must notice that the body is incomplete.
    res.destroy();
    return;
  }
  const { code, status, message, details } = error instanceof S3Error ? error : new S3Error('InternalError');
  // Without the query: it may hold a signature.
  const [resource = ''] = (req.url ?? '').split('?');
  const elements = { Code: code, Message: message, ...details, Resource: resource, RequestId: requestId };
  const body = Object.entries(elements).map(([name, text]) => textElement(name, text));
  sendXml(res, status, xmlDocument('Error', body, false));
}

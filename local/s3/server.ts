import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { allowOrigin, answerPreflight } from './cors.ts';
import { isS3Error, s3Error } from './errors.ts';
import { sendXml } from './exchange.ts';
import { perform } from './operations.ts';
import { parseRequest } from './request.ts';
import { createSigner } from './signature.ts';
import { openStore } from './store.ts';
import { textElement, xmlDocument } from './xml.ts';

export interface ObjectStoreOptions {
  /** Where the objects live; made when it is missing. One process at a time may have it. */
  folder: string;
  buckets: string[];
  credentials: { accessKeyId: string; secretAccessKey: string };
  region: string;
  /** @default the machine's clock */
  clock?: () => Date;
  /** Origins whose pages may use the store from a browser. @default ['*'] */
  allowedOrigins?: string[];
  /** @default 64 MiB */
  maxObjectBytes?: number;
  /** Told of faults of the store itself, never of a refused request. @default console.error */
  onFault?: (error: unknown, requestId: string) => void;
}

export interface ObjectStore {
  buckets: string[];
  /** Answers any request, whatever it holds; rejects never. */
  handle(req: IncomingMessage, res: ServerResponse): Promise<void>;
}

const bucketName = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const defaultMaxObjectBytes = 64 * 1024 * 1024;

/**
 * An S3-compatible store on disk, as a handler to mount where `/{bucket}` and `/{bucket}/{key…}` arrive unchanged:
 * the signature covers the path, and a key may hold `..`, so nothing may normalise the URL first.
 */
export async function createObjectStore(options: ObjectStoreOptions): Promise<ObjectStore> {
  const { folder, buckets, credentials, region, clock = () => new Date() } = options;
  const { allowedOrigins = ['*'], maxObjectBytes = defaultMaxObjectBytes, onFault = reportFault } = options;
  const invalid = buckets.find((name) => !bucketName.test(name));
  if (invalid !== undefined) throw new Error(`'${invalid}' is no valid bucket name.`);
  const service = {
    store: openStore(folder, buckets),
    signer: createSigner({ credentials, region, clock }),
    maxObjectBytes,
  };

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const requestId = randomBytes(8).toString('hex').toUpperCase();
    try {
      res.setHeader('x-amz-request-id', requestId);
      // The signer's clock and the answer's must agree: clients correct their own by this header.
      res.setHeader('date', clock().toUTCString());
      const allowed = allowOrigin(req, res, allowedOrigins);
      if (req.method === 'OPTIONS') answerPreflight(req, res, allowed);
      else await perform(service, parseRequest(req), res);
    } catch (error) {
      const clientIsGone = req.socket.destroyed;
      if (!isS3Error(error) && !clientIsGone) onFault(error, requestId);
      // What is left of a refused body must flow off, or the connection would answer no further request.
      req.resume();
      sendError(req, res, error, requestId);
    }
  }
  return { buckets, handle };
}

/** The store on a port of its own, for tests. */
export async function startS3(
  options: ObjectStoreOptions & { port?: number },
): Promise<{ url: string; close(): Promise<void> }> {
  const { handle } = await createObjectStore(options);
  const server = createServer((req, res) => void handle(req, res));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve, reject) => {
      server.close((error) => (error ? reject(error) : resolve()));
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}`, close };
}

function sendError(req: IncomingMessage, res: ServerResponse, error: unknown, requestId: string): void {
  if (res.headersSent) {
    // A body that broke off must look broken off.
    res.destroy();
    return;
  }
  const { code, status, message, details } = isS3Error(error) ? error : s3Error('InternalError');
  if (code === 'InvalidRange') res.setHeader('content-range', `bytes */${details['ActualObjectSize']}`);
  // Without the query: it may hold a signature.
  const [resource = ''] = (req.url ?? '').split('?');
  const elements = { Code: code, Message: message, ...details, Resource: resource, RequestId: requestId };
  const body = Object.entries(elements).map(([name, text]) => textElement(name, text));
  sendXml(res, status, xmlDocument('Error', body, false));
}

function reportFault(error: unknown, requestId: string): void {
  console.error(`The object store failed on request ${requestId}:`, error);
}

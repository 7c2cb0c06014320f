import type { IncomingMessage, ServerResponse } from 'node:http';
import { s3Error } from './errors.ts';

const methods = 'GET, HEAD, PUT, POST, DELETE';
const exposed =
  'ETag, Accept-Ranges, Content-Range, Last-Modified, Location, x-amz-request-id, x-amz-checksum-crc32';
const vary = 'Origin, Access-Control-Request-Headers, Access-Control-Request-Method';
const maxAgeSeconds = '3000';

/** Lets a page of an allowed origin read the answer, an error included. True when it may. */
export function allowOrigin(req: IncomingMessage, res: ServerResponse, allowedOrigins: string[]): boolean {
  const { origin } = req.headers;
  const any = allowedOrigins.includes('*');
  if (!any) res.setHeader('vary', vary);
  if (origin === undefined || !(any || allowedOrigins.includes(origin))) return false;
  res.setHeader('access-control-allow-origin', any ? '*' : origin);
  res.setHeader('access-control-expose-headers', exposed);
  return true;
}

/** Answers a browser's question before it sends the request; such a question is never signed. */
export function answerPreflight(req: IncomingMessage, res: ServerResponse, allowed: boolean): void {
  const method = req.headers['access-control-request-method'];
  if (req.headers.origin === undefined || method === undefined) {
    throw s3Error('InvalidRequest', 'Insufficient information. Origin and request method are needed.');
  }
  if (!allowed || !methods.split(', ').includes(method)) throw s3Error('AccessForbidden');
  const headers = req.headers['access-control-request-headers'];
  if (headers !== undefined) res.setHeader('access-control-allow-headers', headers);
  res.writeHead(200, {
    'access-control-allow-methods': methods,
    'access-control-max-age': maxAgeSeconds,
    'content-length': 0,
  });
  res.end();
}

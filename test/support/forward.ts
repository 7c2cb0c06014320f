import { request as sendRequest, type IncomingMessage } from 'node:http';

/** Sends a request on to a server with this body. Its path and its Host stay as they are: signatures cover them. */
export function forward(target: string, req: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
  const { 'transfer-encoding': _, ...headers } = req.headers;
  if (body.length > 0) headers['content-length'] = String(body.length);
  const { hostname, port } = new URL(target);
  return new Promise((resolve, reject) => {
    const forwarded = sendRequest({ hostname, port, method: req.method, path: req.url, headers });
    forwarded.on('response', resolve).on('error', reject).end(body);
  });
}

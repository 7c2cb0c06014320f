import type { IncomingMessage, ServerResponse } from 'node:http';
import { cors } from '../../shared/routes.ts';

/**
 * Answers a browser's question whether a page of another origin may send a request (Fetch, "CORS-preflight fetch").
 * @returns false when there is nothing to answer: no route, or no origin that is allowed.
 */
export function answerPreflight(
  req: IncomingMessage,
  res: ServerResponse,
  methods: string[],
  allowedOrigins: string[],
): boolean {
  const { origin } = req.headers;
  if (methods.length === 0 || allowedOrigins.length === 0) return false;
  const headers: Record<string, string> = { vary: 'Origin' };
  if (origin !== undefined && allowedOrigins.includes(origin)) {
    headers['access-control-allow-origin'] = origin;
    headers['access-control-allow-methods'] = methods.join(',');
    headers['access-control-allow-headers'] = cors.requestHeaders.join(',');
    headers['access-control-max-age'] = String(cors.maxAgeSeconds);
  }
  res.writeHead(204, headers);
  res.end();
  return true;
}

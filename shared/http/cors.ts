import { cors } from '../routes/api.ts';
import { singleHeader, type ApiRequest } from './request.ts';

/** Lets web pages of the allowed origins read an answer. Where no origin is allowed, there are no headers. */
export function corsHeaders(request: ApiRequest, allowedOrigins: readonly string[]): Record<string, string> {
  if (allowedOrigins.length === 0) return {};
  const origin = singleHeader(request, 'origin');
  if (origin === undefined || !allowedOrigins.includes(origin)) return { vary: 'origin' };
  return {
    vary: 'origin',
    'access-control-allow-origin': origin,
    'access-control-expose-headers': cors.responseHeaders.join(', '),
  };
}

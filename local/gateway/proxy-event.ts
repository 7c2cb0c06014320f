import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { binaryMediaTypes, localStage } from '../../shared/routes/api.ts';

export interface MatchedPath {
  /** The route's path with its `{parameters}`. */
  resource: string;
  pathParameters: Record<string, string>;
}

/** A matcher for paths such as `/generate/{requestId}`; a parameter is one segment, decoded. */
export function pathMatcher(resource: string): (path: string) => MatchedPath | null {
  const parts = resource.split('/');
  return (path) => {
    const segments = path.split('/');
    if (segments.length !== parts.length) return null;
    const pathParameters: Record<string, string> = {};
    for (const [i, part] of parts.entries()) {
      const name = /^\{(\w+)\}$/.exec(part)?.[1];
      const segment = decodeSegment(segments[i]!);
      if (segment === null) return null;
      if (name !== undefined && segment !== '') pathParameters[name] = segment;
      else if (segment !== part) return null;
    }
    return { resource, pathParameters };
  };
}

function decodeSegment(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}

/** The event that API Gateway's Lambda proxy integration (REST, version 1) would send. */
export function proxyEvent(
  req: IncomingMessage,
  matched: MatchedPath,
  path: string,
  search: string,
  body: Buffer,
): APIGatewayProxyEvent {
  const headers = multiValues(pairs(req.rawHeaders));
  // URLSearchParams drops a question mark at the beginning. One is added, so that the caller's own is kept.
  const query = multiValues([...new URLSearchParams(`?${search}`)]);
  const [mediaType = ''] = (req.headers['content-type'] ?? '').split(';');
  const isBinary = binaryMediaTypes.includes(mediaType.trim().toLowerCase());
  return {
    resource: matched.resource,
    path,
    httpMethod: req.method ?? '',
    headers: lastValues(headers),
    multiValueHeaders: headers,
    queryStringParameters: lastValues(query),
    multiValueQueryStringParameters: query,
    pathParameters: matched.pathParameters,
    stageVariables: null,
    // As API Gateway does: of all but binary types it makes text, with bytes that are not UTF-8 replaced.
    body: body.length === 0 ? null : body.toString(isBinary ? 'base64' : 'utf8'),
    isBase64Encoded: isBinary && body.length > 0,
    requestContext: {
      requestId: randomUUID(),
      httpMethod: req.method ?? '',
      path,
      resourcePath: matched.resource,
      stage: localStage,
      domainName: domainName(req),
      protocol: `HTTP/${req.httpVersion}`,
      identity: { sourceIp: req.socket.remoteAddress ?? '' },
    } as APIGatewayProxyEvent['requestContext'],
  };
}

/** As API Gateway does it: a name that leads here, and not whatever a Host header says. A port may be forwarded. */
function domainName({ headers: { host = '' }, socket }: IncomingMessage): string {
  const isOurs = /^localhost(:\d+)?$/.test(host) && URL.canParse(`http://${host}`);
  return isOurs ? host : `${socket.localAddress}:${socket.localPort}`;
}

function pairs(raw: string[]): [string, string][] {
  return Array.from({ length: raw.length / 2 }, (_, i) => [raw[2 * i]!, raw[2 * i + 1]!]);
}

function multiValues(entries: [string, string][]): Record<string, string[]> {
  const values = new Map<string, string[]>();
  for (const [name, value] of entries) values.set(name, [...(values.get(name) ?? []), value]);
  return Object.fromEntries(values);
}

function lastValues(multi: Record<string, string[]>): Record<string, string> {
  return Object.fromEntries(Object.entries(multi).map(([name, values]) => [name, values.at(-1)!]));
}

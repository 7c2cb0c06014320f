import { routes } from '../../shared/routes/routes.ts';
import type { Route } from '../../shared/routes/route.ts';

export interface DeployedCall {
  method?: string;
  /** A raw key or an access token. */
  key?: string;
  body?: unknown;
  headers?: Record<string, string>;
  query?: Record<string, string>;
  parameters?: Record<string, string>;
}

export interface DeployedAnswer {
  status: number;
  headers: Record<string, string>;
  /** Parsed, if it is JSON. */
  body: any;
  text: string;
  /** What a streaming function wrote, prelude and all. */
  raw?: Buffer;
}

/** As API Gateway sends it. */
export function proxyEvent(
  name: string,
  { method, key, body, headers = {}, query, parameters }: DeployedCall,
): object {
  const route = (Object.values(routes) as Route[]).find(({ functionName }) => functionName === name)!;
  const sent = { ...headers, ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }) };
  const lists = (of: Record<string, string> | undefined) =>
    of && Object.fromEntries(Object.entries(of).map(([header, value]) => [header, [value]]));
  return {
    httpMethod: method ?? route.method,
    resource: `/api/v1${route.path}`,
    path: `/api/v1${route.path}`,
    headers: sent,
    multiValueHeaders: lists(sent),
    queryStringParameters: query ?? null,
    multiValueQueryStringParameters: lists(query) ?? null,
    pathParameters: parameters ?? null,
    body: body === undefined ? null : JSON.stringify(body),
    isBase64Encoded: false,
    requestContext: { requestId: 'gateway' },
  };
}

export function splitStream(raw: Buffer): DeployedAnswer {
  const end = raw.indexOf(Buffer.alloc(8));
  const prelude = JSON.parse(raw.subarray(0, end).toString());
  return { ...answerOf({ ...prelude, body: raw.subarray(end + 8).toString() }), raw };
}

export function answerOf({ statusCode, headers, body }: any): DeployedAnswer {
  const isJson = headers['content-type'] === 'application/json';
  return { status: statusCode, headers, text: body, body: isJson ? JSON.parse(body) : null };
}

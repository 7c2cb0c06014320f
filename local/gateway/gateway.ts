import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { errorCodes } from '../../shared/errors.ts';
import { firewallFailures, gatewayFailures, type GatewayFailure } from '../../shared/gateway-failures.ts';
import { basePath, cors, type Route } from '../../shared/routes.ts';
import { invoke } from './lambda-host.ts';
import { answerPreflight } from './preflight.ts';
import { pathMatcher, proxyEvent, type MatchedPath } from './proxy-event.ts';

/** API Gateway's own limit; the service's is lower and is its own. */
const maxBodyBytes = 10 * 1024 * 1024;

const stopping: GatewayFailure = {
  code: 'SERVICE_UNAVAILABLE',
  error: 'The service is stopping. Try again shortly.',
  retryAfterSeconds: 5,
};

export interface MountedRoute {
  route: Route;
  handler: unknown;
}

export interface GatewayOptions {
  mounted: MountedRoute[];
  /** How long one run of a function may take. */
  functionTimeoutMs: number;
  /** Whose web pages may ask; none, and preflights are not answered. */
  allowedOrigins?: string[];
}

export interface Gateway {
  /** Answers every request below the base path. */
  handle(req: IncomingMessage, res: ServerResponse): Promise<void>;
  /** From now on, new requests are told that the service is stopping. */
  drain(): void;
  /** How many functions run, with or without a client that waits for them. */
  running(): number;
  /** Resolves once no function runs and every answer was sent. */
  idle(): Promise<void>;
}

/** Mounts routes as API Gateway does: builds proxy events, streams, and renders its own failures in the API's shape. */
export function createGateway({ mounted, functionTimeoutMs, allowedOrigins = [] }: GatewayOptions): Gateway {
  const find = router(mounted);
  const functions = new Set<Promise<unknown>>();
  const answers = new Set<Promise<unknown>>();

  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const [path = '', search = ''] = splitOnce(req.url ?? '', '?');
    if (req.method === 'OPTIONS' && answerPreflight(req, res, methodsOf(mounted, path), allowedOrigins))
      return;
    const found = find(req.method ?? '', path);
    if (!found) return fail(res, gatewayFailures.MISSING_AUTHENTICATION_TOKEN);
    const body = await readBody(req);
    if (body === null) {
      res.setHeader('connection', 'close');
      return fail(res, firewallFailures.tooLarge);
    }
    const event = proxyEvent(req, found.matched, path, search, body);
    const {
      statusCode,
      headers,
      body: chunks,
    } = await invoke(found.handler, event, functionTimeoutMs, (run) => track(run, functions));
    res.writeHead(statusCode, headers);
    for await (const chunk of chunks) if (!res.destroyed) res.write(chunk);
    res.end();
  };

  let draining = false;
  return {
    async handle(req, res) {
      if (draining) {
        res.setHeader('connection', 'close');
        return fail(res, stopping);
      }
      track(new Promise((closed) => res.once('close', closed)), answers);
      try {
        await answer(req, res);
      } catch {
        if (res.headersSent) res.destroy();
        else fail(res, gatewayFailures.DEFAULT_5XX);
      }
    },
    drain: () => void (draining = true),
    running: () => functions.size,
    async idle() {
      while (functions.size + answers.size > 0) await Promise.allSettled([...functions, ...answers]);
    },
  };
}

/** Keeps a promise in a set for as long as it is open. */
function track(run: Promise<unknown>, runs: Set<Promise<unknown>>): void {
  runs.add(run);
  const done = () => runs.delete(run);
  run.then(done, done);
}

interface FoundRoute {
  handler: unknown;
  matched: MatchedPath;
}

/** @returns what answers a method and a path, null when nothing does. */
function router(mounted: MountedRoute[]): (method: string, path: string) => FoundRoute | null {
  const table = mounted.map(({ route, handler }) => ({
    method: route.method,
    match: pathMatcher(route.path),
    handler,
  }));
  return (method, path) => {
    if (!path.startsWith(`${basePath}/`)) return null;
    for (const entry of table) {
      const matched = entry.method === method ? entry.match(path.slice(basePath.length)) : null;
      if (matched) return { handler: entry.handler, matched };
    }
    return null;
  };
}

/** The methods of a path, whatever its parameters. */
function methodsOf(mounted: MountedRoute[], path: string): string[] {
  if (!path.startsWith(`${basePath}/`)) return [];
  const below = path.slice(basePath.length);
  return mounted.filter(({ route }) => pathMatcher(route.path)(below)).map(({ route }) => route.method);
}

function fail(res: ServerResponse, { code, error, retryAfterSeconds }: GatewayFailure): void {
  res.writeHead(errorCodes[code].status, {
    'content-type': 'application/json',
    'x-request-id': randomUUID(),
    'cache-control': 'no-store',
    // As on AWS: these texts are the same for everyone.
    'access-control-allow-origin': '*',
    'access-control-expose-headers': cors.responseHeaders.join(', '),
    ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
  });
  res.end(JSON.stringify({ error, code }));
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}

/** @returns null when the body is larger than the gateway takes; the rest of it is not read. */
async function readBody(req: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // The connection must live on, to carry the refusal.
  for await (const chunk of req.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

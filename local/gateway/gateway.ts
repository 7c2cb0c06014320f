import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  firewallFailures,
  gatewayFailures,
  methodFailure,
  type GatewayFailure,
} from '../../shared/routes/gateway-failures.ts';
import { writeAll } from '../../shared/http/web-exchange.ts';
import type { Route } from '../../shared/routes/route.ts';
import { basePath, cors, minCompressionBytes } from '../../shared/routes/api.ts';
import { compress, takesGzip } from '../http/gzip.ts';
import { readBody } from '../http/read-body.ts';
import { fail, ownHeaders } from './fail.ts';
import { invoke, type HostedAnswer } from './lambda-host.ts';
import { pathMatcher, proxyEvent, type MatchedPath } from './proxy-event.ts';

/** API Gateway's limit. The service has a lower one, which it checks itself. */
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
  /** Origins whose web pages may call the API. Without any, preflights are not answered. */
  allowedOrigins?: string[];
}

export interface Gateway {
  /** Answers every request below the base path. */
  handle(req: IncomingMessage, res: ServerResponse): Promise<void>;
  /** From now on, new requests are refused: the service is stopping. */
  drain(): void;
  /** How many functions run, with or without a client that waits for them. */
  running(): number;
  /** Resolves once no function runs and every answer was sent. */
  idle(): Promise<void>;
}

/** Mounts routes as API Gateway does: builds proxy events, streams, and renders its own failures in the API's shape. */
export function createGateway({ mounted, functionTimeoutMs, allowedOrigins = [] }: GatewayOptions): Gateway {
  const routesAt = router(mounted);
  const functions = new Set<Promise<unknown>>();
  const answers = new Set<Promise<unknown>>();

  const answer = async (req: IncomingMessage, res: ServerResponse): Promise<void> => {
    const [path = '', search = ''] = splitOnce(req.url ?? '', '?');
    const routes = routesAt(path);
    const methods = routes.map(({ route }) => route.method);
    if (req.method === 'OPTIONS' && answerPreflight(req, res, methods, allowedOrigins)) return;
    const found = routes.find(({ route }) => route.method === req.method);
    if (!found) return refuseMethod(res, routes);
    const body = await readBody(req, maxBodyBytes);
    if (body === null) {
      res.setHeader('connection', 'close');
      return fail(res, firewallFailures.tooLarge);
    }
    const event = proxyEvent(req, found.matched, path, search, body);
    const plain = await invoke(found.handler, event, functionTimeoutMs, (run) => track(run, functions));
    const mayCompress = !found.route.streams && takesGzip(req.headers['accept-encoding']);
    const { statusCode, headers, body: chunks } = mayCompress ? await compressed(plain) : plain;
    res.writeHead(statusCode, headers);
    await writeAll(chunks, res);
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

/** Compresses an answer that is large enough (API Gateway, "Receive an API response with a compressed payload"). */
async function compressed(answer: HostedAnswer): Promise<HostedAnswer> {
  const parts: Buffer[] = [];
  for await (const chunk of answer.body) parts.push(Buffer.from(chunk));
  const body = Buffer.concat(parts);
  if (body.length < minCompressionBytes) return { ...answer, body: once(body) };
  const headers = { ...answer.headers, 'content-encoding': 'gzip' };
  return { ...answer, headers, body: once(await compress(body)) };
}

async function* once(body: Buffer): AsyncGenerator<Buffer> {
  yield body;
}

interface FoundRoute extends MountedRoute {
  matched: MatchedPath;
}

/** Finds the routes of a path, one for each of its methods. */
function router(mounted: MountedRoute[]): (path: string) => FoundRoute[] {
  const matchers = mounted.map((one) => ({ ...one, match: pathMatcher(one.route.path) }));
  return (path) => {
    if (!path.startsWith(`${basePath}/`)) return [];
    return matchers.flatMap(({ route, handler, match }) => {
      const matched = match(path.slice(basePath.length));
      return matched ? [{ route, handler, matched }] : [];
    });
  };
}

function refuseMethod(res: ServerResponse, routes: FoundRoute[]): void {
  const refusing = routes.find(({ route }) => route.refusesOthers);
  if (refusing) res.setHeader('allow', refusing.route.method);
  fail(res, refusing ? methodFailure : gatewayFailures.MISSING_AUTHENTICATION_TOKEN);
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)];
}

/**
 * Answers a browser's question whether a page of another origin may send a request (Fetch, "CORS-preflight fetch").
 * @returns false when there is nothing to answer: no route, or no origin that is allowed.
 */
function answerPreflight(
  req: IncomingMessage,
  res: ServerResponse,
  methods: string[],
  allowedOrigins: string[],
): boolean {
  const { origin } = req.headers;
  if (methods.length === 0 || allowedOrigins.length === 0) return false;
  const headers: Record<string, string> = { ...ownHeaders(204), vary: 'Origin' };
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

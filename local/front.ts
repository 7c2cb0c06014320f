import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { UserPool } from './cognito/user-pool.ts';
import type { Dashboard } from './dashboard/dashboard.ts';
import type { Gateway } from './gateway/gateway.ts';
import { answerStarting } from './port.ts';
import type { ObjectStore } from './s3/server.ts';

/** Everything that one port serves. */
export interface Front {
  /** The origin that the service goes by. */
  url: string;
  gateway: Gateway;
  bucketName: string;
  objects: ObjectStore;
  userPool: UserPool;
  dashboard: Dashboard;
  /** Called for each API request once it is answered. */
  onRequest?: ((line: RequestLine) => void) | undefined;
}

export interface RequestLine {
  method: string;
  path: string;
  status: number;
  durationMs: number;
}

/** The bucket alone, until the service is ready: what an earlier process left in it is deleted first. */
export function createStartingFront({
  bucketName,
  objects,
}: Pick<Front, 'bucketName' | 'objects'>): RequestListener {
  return (req, res) => {
    if (!isBelow(pathOf(req), `/${bucketName}`)) return answerStarting(req, res);
    objects.handle(req, res).catch(() => void res.destroy());
  };
}

/** The API below its base path, the bucket below its name, the user pool's paths, and the dashboard everywhere else. */
export function createFront(front: Front): RequestListener {
  const { gateway, bucketName, objects, userPool, dashboard } = front;
  return (req, res) => {
    const path = pathOf(req);
    // The connection broke: nobody is left to answer.
    const ignore = () => void res.destroy();
    if (isBelow(path, `/${bucketName}`)) {
      objects.handle(req, res).catch(ignore);
    } else if (isBelow(path, '/api')) {
      if (front.onRequest) reportTo(front.onRequest, req, res, path);
      gateway.handle(req, res).catch(ignore);
    } else if (isElsewhere(req, front.url)) {
      res.writeHead(308, { location: `${front.url}${req.url ?? '/'}` }).end();
    } else {
      (userPool.serves(path) ? userPool : dashboard).handle(req, res).catch(ignore);
    }
  };
}

function pathOf({ url = '' }: IncomingMessage): string {
  return url.split('?')[0]!;
}

function isBelow(path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(`${prefix}/`);
}

/** Sign-in works at one origin only. A browser that used another name of this machine is redirected there. */
function isElsewhere({ method, headers }: IncomingMessage, url: string): boolean {
  return method === 'GET' && headers.host !== new URL(url).host;
}

function reportTo(
  onRequest: (line: RequestLine) => void,
  req: IncomingMessage,
  res: ServerResponse,
  requestPath: string,
): void {
  const startedMs = performance.now();
  // A caller may put a key or a token into the path by mistake, and terminal output is kept and shared.
  const path = requestPath.replace(/svc_live_\w+/g, 'svc_live_…').replace(/eyJ[\w.%-]+/g, 'eyJ…');
  res.once('close', () => {
    const durationMs = Math.round(performance.now() - startedMs);
    onRequest({ method: req.method ?? '', path, status: res.statusCode, durationMs });
  });
}

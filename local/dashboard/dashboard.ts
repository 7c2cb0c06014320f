import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join, sep } from 'node:path';
import { securityHeaders, type DashboardConfig } from '../../shared/accounts/dashboard-config.ts';
import { compress, takesGzip } from '../http/gzip.ts';
import { BuildError, ensureBuilt } from './build.ts';
import { noticePage, noticePolicy, type Notice } from './pages.ts';

export interface DashboardOptions {
  /** `dashboard/`, with its sources; what is served is built into `dist` in it. */
  folder: string;
  /** The answer of `/config.json`. */
  config: DashboardConfig;
  /** The answer of `/llms.txt`. */
  llmsText: string;
  /** How long a request waits for a running build before it gets a notice. @default 10 seconds */
  patienceMs?: number;
  /** Called with a sentence when the build has ended. */
  log?: (sentence: string) => void;
}

export interface Dashboard {
  /** Answers GET and HEAD: files, `/config.json`, `/llms.txt`, and the app for every other path that names no file. */
  handle(req: IncomingMessage, res: ServerResponse): Promise<void>;
  /** Builds the app if it must be; until then its pages say so. Never throws: a failed build has a page too. */
  prepare(): Promise<void>;
  /** Ends a running build. */
  close(): void;
}

/** Here is one origin for everything. */
const headers = securityHeaders({ connectSources: [], imageSources: [] });

const contentTypes: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.webp': 'image/webp',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
};

/** What CloudFront compresses, and from which size on (Amazon CloudFront, "Serve compressed files"). */
const compressible = ['.html', '.js', '.css', '.json', '.svg', '.txt', '.webmanifest'];
const minCompressionBytes = 1000;

/** Serves the built account web app, as CloudFront does elsewhere. */
export function openDashboard(options: DashboardOptions): Dashboard {
  const { folder, config, llmsText, patienceMs = 10_000, log = () => {} } = options;
  const dist = join(folder, 'dist');
  const closing = new AbortController();
  const prepared = Promise.withResolvers<void>();
  let notice: Notice | null = 'preparing';
  return {
    async handle(req, res) {
      const path = readPath(req);
      if (path === null) return notFound(req, res);
      if (path === '/config.json') return send(req, res, 200, '.json', JSON.stringify(config), 'no-store');
      if (path === '/llms.txt') return send(req, res, 200, '.txt', llmsText, 'no-store');
      if (notice === 'preparing') await Promise.race([prepared.promise, pause(patienceMs)]);
      const isPage = extname(path) === '';
      if (notice !== null) return sendNotice(req, res, notice, isPage);
      const file = isPage ? 'index.html' : path.slice(1);
      const content = await readFileOf(dist, file);
      if (content === null) return notFound(req, res);
      const isText = compressible.includes(extname(file)) && content.length >= minCompressionBytes;
      const isSmaller = isText && takesGzip(req.headers['accept-encoding']);
      // Names of assets hold a hash of their content.
      const caching = file.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
      send(req, res, 200, extname(file), isSmaller ? await compress(content) : content, caching, {
        ...(isText && { vary: 'Accept-Encoding' }),
        ...(isSmaller && { 'content-encoding': 'gzip' }),
      });
    },
    async prepare() {
      try {
        const built = await ensureBuilt({ folder, signal: closing.signal });
        notice = null;
        if (built) log('The dashboard was built.');
      } catch (error) {
        if (closing.signal.aborted) return;
        notice = 'failed';
        const reason = error instanceof BuildError ? error.output : (error as Error).message;
        log(`The dashboard could not be built: run "npm run build" to see why. ${reason}`);
      } finally {
        prepared.resolve();
      }
    },
    close: () => closing.abort(),
  };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

/** @returns the decoded path, null for what can't be a file or a page. */
function readPath({ method, url = '' }: IncomingMessage): string | null {
  if (method !== 'GET' && method !== 'HEAD') return null;
  try {
    const path = decodeURIComponent(url.split(/[?#]/)[0]!);
    const hostile = path.split(/[/\\]/).some((part) => part.startsWith('.')) || path.includes('\0');
    return path.startsWith('/') && !hostile ? path : null;
  } catch {
    return null;
  }
}

/** @returns null when the folder has no such file. */
async function readFileOf(folder: string, name: string): Promise<Buffer | null> {
  const path = join(folder, name);
  if (!path.startsWith(`${folder}${sep}`)) return null;
  try {
    return await readFile(path);
  } catch (error) {
    const missing = ['ENOENT', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG'];
    if (missing.includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}

function send(
  req: IncomingMessage,
  res: ServerResponse,
  status: number,
  extension: string,
  content: string | Buffer,
  caching: string,
  extra: Record<string, string> = {},
): void {
  res.writeHead(status, {
    ...headers,
    'content-type': contentTypes[extension] ?? 'application/octet-stream',
    'content-length': Buffer.byteLength(content),
    'cache-control': caching,
    ...extra,
  });
  res.end(req.method === 'HEAD' ? undefined : content);
}

function sendNotice(req: IncomingMessage, res: ServerResponse, notice: Notice, isPage: boolean): void {
  const { status, body, headers: more } = notices[notice];
  if (!isPage) return sendError(req, res, status, body, more);
  const page = { ...more, 'content-security-policy': noticePolicy };
  send(req, res, status, '.html', noticePage(notice), 'no-store', page);
}

function notFound(req: IncomingMessage, res: ServerResponse): void {
  const error = 'There is nothing at this address. Check the method and the path.';
  sendError(req, res, 404, { error, code: 'NOT_FOUND' });
}

const notices = {
  preparing: {
    status: 503,
    headers: { 'retry-after': '1' },
    body: { error: 'The dashboard is being prepared. Try again in a second.', code: 'SERVICE_UNAVAILABLE' },
  },
  failed: {
    status: 500,
    headers: {},
    body: { error: 'The dashboard could not be built.', code: 'INTERNAL_ERROR' },
  },
};

function sendError(
  req: IncomingMessage,
  res: ServerResponse,
  status: number,
  body: { error: string; code: string },
  extra: Record<string, string> = {},
): void {
  const ids = { ...extra, 'x-request-id': randomUUID() };
  send(req, res, status, '.json', JSON.stringify(body), 'no-store', ids);
}

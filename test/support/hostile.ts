import { randomUUID } from 'node:crypto';
import type { ErrorCode } from '../../shared/base/errors.ts';
import { routes } from '../../shared/routes/routes.ts';
import type { Route } from '../../shared/routes/route.ts';
import type { Table } from '../../shared/table/table.ts';
import { inOurShape } from './answers.ts';
import { grant } from './grants.ts';
import { sendRaw } from './raw-request.ts';
import type { ApiAnswer, RunningService } from './service.ts';
import { sessionOf } from './sessions.ts';

/** Stands in the texts of hostile requests, so that a search finds it wherever they leave a trace. */
export const marker = 'h0stile';

/** A route, and the credential that its caller sends. */
export interface Way {
  name: string;
  route: Route;
  by: 'key' | 'session' | null;
}

export const ways: Way[] = (Object.values(routes) as Route[]).flatMap((route) => {
  const kinds = {
    key: ['key'],
    session: ['session'],
    key_or_session: ['key', 'session'],
    none: [null],
  } as const satisfies Record<Route['auth'], readonly Way['by'][]>;
  return kinds[route.auth].map((by) => ({
    name: `${route.method} ${route.path} ${by === null ? '' : `by ${by}`}`.trimEnd(),
    route,
    by,
  }));
});

/** What another protocol says of bodies and headers is looked at in that protocol's own tests. */
const isOurs = ({ route }: Way) => route.apiFormat !== 'mcp';
/** Its identity is one that takes product photos, and those here have no model. */
export const isEdit = ({ route }: Way) => route === routes.editOpenAiImage;
export const isGenerating = (way: Way) => way.route.streams && isOurs(way) && !isEdit(way);
/** A cancellation needs no body. */
export const isPost = (way: Way) =>
  way.route.method === 'POST' && isOurs(way) && way.route !== routes.cancelGeneration;
export const takesBody = (way: Way) => isPost(way) || way.route.method === 'PATCH';

/** An account with an active license, one of its keys and its session. */
export interface Caller {
  key: string;
  session: string;
  licenseId: string;
  /** An identity without a model: nothing is ever generated for what gets past all checks. */
  identityId: string;
}

export interface HostileRequest {
  method?: string;
  path?: string;
  /** After the path. */
  query?: string;
  headers?: [string, string][];
  /** In place of the caller's own. */
  authorization?: string[];
  body?: string | Buffer;
}

/** A request, and how it must be answered. */
export interface Hostile {
  what: string;
  way: Way;
  request(caller: Caller): HostileRequest;
  status: number;
  /** Left out for what must be accepted. */
  code?: ErrorCode;
  /** What the sentence of its refusal must say. */
  says?: string;
}

/**
 * Requests that send each item over one of the ways in turn, and the first item over all of them: the rule is the
 * same code for all routes, and every route must be wired to it.
 */
export function spread<T>(items: T[], over: Way[], requestOf: (way: Way, item: T) => Hostile): Hostile[] {
  return items.flatMap((item, i) =>
    i === 0 ? over.map((way) => requestOf(way, item)) : [requestOf(over[i % over.length]!, item)],
  );
}

/** `spread` for a table of items by what they are. */
export function spreadTable<T>(
  table: Record<string, T>,
  over: Way[],
  requestOf: (way: Way, item: T, what: string) => Omit<Hostile, 'way' | 'what'>,
): Hostile[] {
  return spread(Object.entries(table), over, (way, [what, item]) => ({
    what,
    way,
    ...requestOf(way, item, what),
  }));
}

export interface Target {
  baseUrl: string;
  caller(): Promise<Caller>;
}

const requestsOfOneCaller = 8;

/** Callers of a service, a new one before any limit is reached. */
export function callersOf(
  service: Pick<RunningService, 'dataDir' | 'ready'>,
  table: Table,
): () => Promise<Caller> {
  let asked = 0;
  let current: Promise<Caller>;
  return () => {
    if (asked++ % requestsOfOneCaller === 0) current = newCaller(service, table);
    return current;
  };
}

async function newCaller(service: Pick<RunningService, 'dataDir' | 'ready'>, table: Table): Promise<Caller> {
  const sub = randomUUID();
  const [{ key, license }, session] = await Promise.all([
    grant(table, { ownerId: sub }),
    sessionOf(service.dataDir, { sub }),
  ]);
  const { licenseId } = license;
  return { key, session, licenseId, identityId: service.ready.identities.ember! };
}

/** Members of a body that a route accepts, as text. There is always one. */
export function membersOf({ route, by }: Way, { identityId, licenseId }: Caller): string[] {
  const generation = [`"identityId":"${identityId}"`, `"prompt":"${marker}"`];
  const license = `"licenseId":"${licenseId}"`;
  if (route === routes.createGeneration) return generation;
  if (route === routes.createPlaygroundGeneration) return [...generation, license];
  if (route === routes.createOpenAiImage) return [`"model":"${identityId}"`, `"prompt":"${marker}"`];
  if (route === routes.editOpenAiImage)
    return [`"model":"${identityId}"`, `"prompt":"${marker}"`, `"images":[{"image_url":"${marker}"}]`];
  if (route === routes.createKey) return [license, `"name":"${marker}"`];
  if (route === routes.updateKey) return [`"name":"${marker}"`];
  if (route === routes.updateAccount) return ['"creditMails":true'];
  if (route === routes.createUpload)
    return ['"contentType":"image/png"', ...(by === 'session' ? [license] : [])];
  if (route === routes.cancelGeneration) return [];
  if (route === routes.answerAgent) return ['"jsonrpc":"2.0"', '"id":1', '"method":"tools/list"'];
  throw new Error(`what ${route.path} accepts is not known here`);
}

export const objectOf = (members: string[]) => `{${members.join(',')}}`;

/** Sends it, as it is written. */
export async function send(target: Target, way: Way, hostile: Hostile['request']): Promise<ApiAnswer> {
  const caller = await target.caller();
  const { route, by } = way;
  const request = hostile(caller);
  const { method = route.method, path = route.path.replace(/\{\w+\}/, 'x'), query = '' } = request;
  const { headers = [], authorization = by === null ? [] : [`Bearer ${caller[by]}`] } = request;
  const body =
    request.body ??
    (route.method === 'POST' || route.method === 'PATCH' ? objectOf(membersOf(way, caller)) : '');
  const answer = await sendRaw(target.baseUrl, {
    method,
    path: path + query,
    headers: [...authorization.map((value): [string, string] => ['Authorization', value]), ...headers],
    body,
  });
  const { status, text } = answer;
  return { status, headers: answer.headers, body: method === 'HEAD' ? {} : inOurShape(JSON.parse(text)) };
}

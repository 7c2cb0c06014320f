import type { paths } from './openapi.ts';

type Method = 'get' | 'post' | 'patch' | 'delete';

/** Every route of the API by method and path, such as `GET /usage`. */
export type RouteName = {
  [P in keyof paths]: {
    [M in Method & keyof paths[P]]: `${Uppercase<M>} ${P}`;
  }[Method & keyof paths[P]];
}[keyof paths];

type OperationOf<R extends RouteName> = R extends `${infer M} ${infer P extends keyof paths}`
  ? paths[P][Lowercase<M> & keyof paths[P]]
  : never;

type ParametersOf<R extends RouteName, In extends 'path' | 'query'> =
  OperationOf<R> extends { parameters: infer All } ? (In extends keyof All ? All[In] : undefined) : undefined;

type BodyOf<R extends RouteName> = OperationOf<R> extends { requestBody?: infer B } ? JsonOf<B> : never;

/** The JSON of a route's success. */
export type AnswerOf<R extends RouteName> =
  OperationOf<R> extends { responses: infer A }
    ? { [S in keyof A & (200 | 201)]: JsonOf<A[S]> }[keyof A & (200 | 201)]
    : never;

type JsonOf<A> = A extends { content: { 'application/json': infer B } } ? B : never;

/** A member that is required if anything in its value is. */
type Member<Name extends string, Value> = [Value] extends [undefined]
  ? { [K in Name]?: undefined }
  : object extends Value
    ? { [K in Name]?: Loose<Value> | undefined }
    : { [K in Name]: Loose<Value> };

/** Optional members may also be undefined: neither is sent. */
type Loose<T> = T extends object ? { [K in keyof T]: undefined extends T[K] ? T[K] | undefined : T[K] } : T;

export interface CallOptions {
  /** Aborts the call and every wait in it. The call then throws the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** The arguments of a route. */
export type RouteInit<R extends RouteName> = Member<'path', ParametersOf<R, 'path'>> &
  Member<'query', ParametersOf<R, 'query'>> &
  Member<'body', BodyOf<R>> &
  CallOptions & {
    /** Added to the client's own headers. `Authorization` and `Content-Type` cannot be replaced. */
    headers?: Record<string, string>;
  };

/** The same without a route's types, for code that serves every route. */
export interface AnyInit extends CallOptions {
  path?: Record<string, string | undefined> | undefined;
  query?: Record<string, string | number | boolean | undefined> | undefined;
  body?: unknown;
  headers?: Record<string, string> | undefined;
  /** For how much longer than the client's timeout the service was asked to hold its answer back. */
  heldBackMs?: number | undefined;
}

/** @throws TypeError for NaN, Infinity and an invalid date, which JSON writes as null: the default. */
export function requireFinite(name: string, value: unknown): void {
  const isNumber = ['[object Number]', '[object Date]'].includes(Object.prototype.toString.call(value));
  if (!isNumber || Number.isFinite(Number(value))) return;
  throw new TypeError(`${name} is ${String(value)}: give a finite number or a valid date.`);
}

/** @throws TypeError that names what JSON can't say */
export function jsonOf(body: unknown): string {
  const names = new Map<unknown, string>();
  return JSON.stringify(body, function (this: Record<string, unknown>, key: string, value: unknown) {
    const above = names.get(this);
    const name = above ? `${above}.${key}` : key;
    // A date has become a text or null in `value`.
    requireFinite(name, this[key]);
    requireFinite(name, value);
    names.set(value, name);
    return value;
  });
}

/** @returns the method of a call, and its address with the encoded path parameters and query. */
export function addressOf(baseUrl: string, route: string, init: AnyInit): { method: string; url: string } {
  // It is not quoted, because it may hold a password.
  if (!/^https?:\/\/[^/?#@\s]+(\/[^?#\r\n]*)?$/i.test(baseUrl) || !URL.canParse(baseUrl)) {
    throw new TypeError('baseUrl (IMAGE_BASE_URL) must be like https://images.example.com/api/v1.');
  }
  const [method, template] = route.split(' ') as [string, string];
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = init.path?.[name];
    // `.` and `..` would lead to another path.
    if (!value || /^\.\.?$/.test(value)) throw new TypeError(`${name} is missing.`);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(init.query ?? {})) {
    requireFinite(name, value);
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  const text = query.toString();
  return { method, url: baseUrl + path + (text && `?${text}`) };
}

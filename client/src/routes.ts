import type { paths } from './openapi.ts';

type Method = 'get' | 'post' | 'delete';

/** Every route of the API by method and path, such as `GET /usage`. */
export type RouteName = {
  [P in keyof paths]: {
    [M in Method]: paths[P][M] extends object ? `${Uppercase<M>} ${P}` : never;
  }[Method];
}[keyof paths];

type OperationOf<R extends RouteName> = R extends `${infer M} ${infer P extends keyof paths}`
  ? paths[P][Lowercase<M> & Method]
  : never;

type ParametersOf<R extends RouteName, In extends 'path' | 'query'> =
  OperationOf<R> extends { parameters: { [K in In]?: infer Q } } ? Q : undefined;

type BodyOf<R extends RouteName> = OperationOf<R> extends { requestBody?: infer B } ? JsonOf<B> : never;

/** The JSON of a route's success. */
export type AnswerOf<R extends RouteName> =
  OperationOf<R> extends { responses: infer A }
    ? { [S in keyof A & (200 | 201)]: JsonOf<A[S]> }[keyof A & (200 | 201)]
    : never;

type JsonOf<A> = A extends { content: { 'application/json': infer B } } ? B : never;

/** A member that is required unless nothing in it is. */
type Member<Name extends string, Value> = [Value] extends [undefined]
  ? { [K in Name]?: undefined }
  : object extends Value
    ? { [K in Name]?: Loose<Value> | undefined }
    : { [K in Name]: Loose<Value> };

/** Members that may be left out may be undefined as well: neither is sent. */
type Loose<T> = T extends object ? { [K in keyof T]: undefined extends T[K] ? T[K] | undefined : T[K] } : T;

export interface CallOptions {
  /** Ends the call and every wait in it, which throws the signal's reason. */
  signal?: AbortSignal | undefined;
}

/** What a route is called with. */
export type RouteInit<R extends RouteName> = Member<'path', ParametersOf<R, 'path'>> &
  Member<'query', ParametersOf<R, 'query'>> &
  Member<'body', BodyOf<R>> &
  CallOptions & {
    /** Beside those that the client sends itself, which they can't replace. */
    headers?: Record<string, string>;
  };

/** The same without a route's types, for what serves all of them. */
export interface AnyInit extends CallOptions {
  path?: Record<string, string | undefined> | undefined;
  query?: Record<string, string | number | boolean | undefined> | undefined;
  body?: unknown;
  headers?: Record<string, string> | undefined;
}

/** @returns the method and the address of a call, with what was given encoded in it. */
export function addressOf(baseUrl: string, route: string, init: AnyInit): { method: string; url: string } {
  const [method, template] = route.split(' ') as [string, string];
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = init.path?.[name];
    // Dots would name another path.
    if (!value || /^\.\.?$/.test(value)) throw new TypeError(`${name} is missing.`);
    return encodeURIComponent(value);
  });
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(init.query ?? {})) {
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  const text = query.toString();
  return { method, url: baseUrl + path + (text && `?${text}`) };
}

import type { APIGatewayProxyEvent } from 'aws-lambda';
import * as z from 'zod/mini';
import { describeIssues, queryProblems } from '../base/fields.ts';
import { ServiceError } from '../base/errors.ts';
import { basePath, localStage } from '../routes/api.ts';
import { bodyTooLarge, maxBodyBytes } from '../routes/limits.ts';
import { lazy } from '../base/lazy.ts';
import type { RefusalOwner } from '../limits/refusal-store.ts';
import { parseJson } from './json.ts';
import { readTraceparent, traceFields } from '../base/trace-context.ts';
import { countError, recordingMeter, type RecordingMeter } from '../base/meter.ts';

/** One HTTP request, whatever brought it. */
export interface ApiRequest {
  /** UUIDv7; a request that is accepted for generation is stored under it. */
  requestId: string;
  receivedAtMs: number;
  method: string;
  /** The origin that the gateway was asked at: it vouches for this one, unlike a Host header. Nothing where it does not say. */
  origin: string;
  /** The path's beginning, with what the gateway has put before it: `/prod/api/v1` on an address of its own, `/api/v1` on one of ours. */
  basePath: string;
  pathParameters: Readonly<Record<string, string>>;
  /** Every value that a header was sent with; names in lower case. */
  headers: ReadonlyMap<string, readonly string[]>;
  query: ReadonlyMap<string, readonly string[]>;
  /** The body as it was sent, decoded when it is first asked for. */
  readonly rawBytes: Buffer;
  /** The body as text. */
  readonly rawBody: string;
  /** The body as JSON, parsed once. @throws INVALID_BODY */
  json(): unknown;
  /** Which trace the caller says that it is part of; null where it says nothing that counts. */
  traceparent: string | null;
  /** Headers of the response, collected on the way. */
  responseHeaders: Record<string, string>;
  /** Whose refusals this request counts for, should it be refused; null until that is known, or for nobody's. */
  refusalOwner: RefusalOwner | null;
  /** What the caller was told of an error. It quotes names that the caller made up, so no log has it. */
  refusedBecause: string;
  /** What CONTENT_REFUSED was for, if it is to be counted. */
  refusedCategories: readonly string[] | undefined;
  /** Members of the request's log line. */
  logFields: Record<string, string | number>;
  meter: RecordingMeter;
  /** Work that must end before the function may be frozen. */
  background: Promise<unknown>[];
}

export function readRequest(
  event: APIGatewayProxyEvent,
  requestId: string,
  receivedAtMs: number,
): ApiRequest {
  const headers = new Map<string, string[]>();
  for (const [name, values] of Object.entries(event.multiValueHeaders ?? {})) {
    headers.set(name.toLowerCase(), [...(headers.get(name.toLowerCase()) ?? []), ...(values ?? [])]);
  }
  const sent = event.body ?? '';
  const rawBytes = lazy(() => Buffer.from(sent, event.isBase64Encoded ? 'base64' : 'utf8'));
  const rawBody = lazy(() => (event.isBase64Encoded ? rawBytes().toString() : sent));
  const traceparent = readTraceparent(onlyValue(headers.get('traceparent')));
  const query = Object.entries(event.multiValueQueryStringParameters ?? {});
  return {
    requestId,
    receivedAtMs,
    method: event.httpMethod,
    origin: originOf(event),
    basePath: pathPrefix(event) + basePath,
    pathParameters: Object.fromEntries(
      Object.entries(event.pathParameters ?? {}).map(([name, value]) => [name, value ?? '']),
    ),
    headers,
    query: new Map(query.map(([name, values]) => [name, values ?? []])),
    get rawBytes() {
      return rawBytes();
    },
    get rawBody() {
      return rawBody();
    },
    json: lazy(() => parseJson(rawBody())),
    traceparent,
    responseHeaders: { 'x-request-id': requestId, ...(traceparent && { traceparent }) },
    refusalOwner: null,
    refusedBecause: '',
    refusedCategories: undefined,
    // The gateway's own log names the request by this id.
    logFields: { gatewayRequestId: event.requestContext?.requestId ?? '', ...traceFields(traceparent) },
    meter: recordingMeter(),
    background: [],
  };
}

/** Counts what a request ended with, for its line in the log too. @returns whether it is a fault of ours */
export function noteError(request: ApiRequest, error: ServiceError): boolean {
  request.logFields.code = error.code;
  request.refusedBecause = error.message;
  request.refusedCategories = error.categories;
  return countError(request.meter, error.code, error);
}

function originOf({ requestContext: { domainName, stage } = {} as never }: APIGatewayProxyEvent): string {
  return domainName ? `${stage === localStage ? 'http' : 'https'}://${domainName}` : '';
}

/** Only the path of the request's context has the stage (API Gateway, "$context variables"). */
function pathPrefix({ requestContext }: APIGatewayProxyEvent): string {
  return new RegExp(`^(/[\\w-]+)${basePath}/`).exec(requestContext?.path ?? '')?.[1] ?? '';
}

export interface BodyOptions {
  /** @default that of most routes */
  maxBytes?: number;
  /** Whether an absent body counts as an empty object. */
  mayBeEmpty?: boolean;
}

/** @throws PAYLOAD_TOO_LARGE, INVALID_BODY for anything but a JSON object in plain UTF-8. */
export function readJsonBody(
  request: ApiRequest,
  { mayBeEmpty = false, maxBytes = maxBodyBytes }: BodyOptions = {},
): Record<string, unknown> {
  checkBody(request, maxBytes);
  if (mayBeEmpty && request.rawBody === '') return {};
  const value = request.json();
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ServiceError('INVALID_BODY', 'The body must be a JSON object.');
  }
  return value as Record<string, unknown>;
}

/** @throws INVALID_BODY for one that is compressed, PAYLOAD_TOO_LARGE */
export function checkBody(request: ApiRequest, maxBytes: number): void {
  if (isEncoded(request)) {
    throw new ServiceError('INVALID_BODY', 'The body must be sent uncompressed, without Content-Encoding.');
  }
  if (request.rawBytes.length > maxBytes) throw new ServiceError('PAYLOAD_TOO_LARGE', bodyTooLarge(maxBytes));
}

/**
 * Reads a JSON body that must fit a schema.
 * @throws INVALID_BODY, PAYLOAD_TOO_LARGE, INVALID_PARAMETERS naming every member that is wrong.
 */
export function readBody<Schema extends z.ZodMiniType>(
  request: ApiRequest,
  schema: Schema,
  options?: BodyOptions,
): z.infer<Schema> {
  const result = z.safeParse(schema, readJsonBody(request, options));
  if (!result.success) throw new ServiceError('INVALID_PARAMETERS', describeIssues(result.error.issues));
  return result.data;
}

/** `identity` is RFC 9110's word for no encoding. */
function isEncoded(request: ApiRequest): boolean {
  const codings = (request.headers.get('content-encoding') ?? []).flatMap((value) => value.split(','));
  return codings.some((coding) => !['', 'identity'].includes(coding.trim().toLowerCase()));
}

/**
 * Reads query parameters by name, each at most once.
 * @throws INVALID_PARAMETERS for one that is unknown or repeated.
 */
export function readQuery<Name extends string>(
  request: ApiRequest,
  allowed: readonly Name[],
): Partial<Record<Name, string>> {
  const problems = queryProblems(request.query, allowed);
  if (problems.length > 0) throw new ServiceError('INVALID_PARAMETERS', `${problems.join('; ')}.`);
  return sentQuery(request) as Partial<Record<Name, string>>;
}

/** The values of the query as they were sent, of each name the first; nothing is checked. */
export function sentQuery(request: ApiRequest): Partial<Record<string, string>> {
  return Object.fromEntries([...request.query].map(([name, [value]]) => [name, value]));
}

/**
 * Runs checks of one request, so that a refusal names what all of them found and not only what the first did.
 * @returns what each gives back.
 * @throws INVALID_PARAMETERS with every sentence; whatever else a check throws, at once.
 */
export function collectErrors<T extends readonly unknown[]>(...checks: { [I in keyof T]: () => T[I] }): T {
  const sentences: string[] = [];
  const found = checks.map((check) => {
    try {
      return check();
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'INVALID_PARAMETERS') throw error;
      sentences.push(error.message);
      return undefined;
    }
  });
  if (sentences.length > 0) throw new ServiceError('INVALID_PARAMETERS', sentences.join(' '));
  return found as unknown as T;
}

/** A header's only value; undefined when it is absent or repeated. */
export function singleHeader(request: ApiRequest, name: string): string | undefined {
  return onlyValue(request.headers.get(name));
}

function onlyValue(values: readonly string[] | undefined): string | undefined {
  return values?.length === 1 ? values[0] : undefined;
}

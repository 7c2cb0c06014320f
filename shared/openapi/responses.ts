import { errorCodes, type ErrorCode } from '../base/errors.ts';
import type { Route } from '../routes/route.ts';
import { answerExamples, events } from './answer-examples.ts';
import { codesOf } from './error-codes.ts';
import { errorExamples } from './error-examples.ts';
import type { Operation, OperationId } from './operations.ts';
import type { Schema } from './schema.ts';
import { schemaRef } from './schemas.ts';

const headerRef = (name: string) => ({ $ref: `#/components/headers/${name}` });

const rateHeaders: Schema = {
  RateLimit: headerRef('RateLimit'),
  'RateLimit-Policy': headerRef('RateLimitPolicy'),
};

/** Every header of answers, by its name in the document. */
export const headers: Record<string, Schema> = {
  RequestId: {
    description:
      'Quote it when you ask for help. Of POST /generate it is the UUID of the stored request, if there is one.',
    required: true,
    schema: { type: 'string', format: 'uuid' },
  },
  RequestIdUnlessBlocked: {
    description: "As on every answer, except the firewall's own.",
    schema: { type: 'string', format: 'uuid' },
  },
  RetryAfter: {
    description: 'Whole seconds to wait.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
  },
  RetryAfterWhileOpen: {
    description:
      'Whole seconds until it is worth asking again. Only while the request is QUEUED or PROCESSING.',
    schema: { type: 'integer', minimum: 1, maximum: 15 },
  },
  Location: {
    description: "The record's address, for `GET /generate/{requestId}`.",
    required: true,
    schema: { type: 'string', format: 'uri-reference' },
  },
  PreferenceApplied: {
    description: 'The preferences that were followed (RFC 7240).',
    schema: { type: 'string', pattern: '^(respond-async|(respond-async, )?wait=[1-9][0-9]?)$' },
  },
  CacheControl: {
    description: 'No answer may be stored: answers hold links that open without a key.',
    required: true,
    schema: { type: 'string', const: 'no-store' },
  },
  CacheControlOfDocument: {
    description: 'It may be stored, and is asked for again each time: `If-None-Match` spares the body.',
    required: true,
    schema: { type: 'string', const: 'no-cache' },
  },
  EntityTag: {
    description: 'It changes with the document.',
    required: true,
    schema: { type: 'string', pattern: '^W/"[A-Za-z0-9_-]+"$' },
  },
  RateLimit: {
    description:
      'What is left of the limit, and the seconds until more is (draft-ietf-httpapi-ratelimit-headers).',
    schema: { type: 'string', pattern: '^"[a-z-]+";r=[0-9]+;t=[0-9]+$' },
    example: '"generate";r=3;t=12',
  },
  RateLimitPolicy: {
    description: 'The limit itself: requests, and the seconds of the window that they are counted in.',
    schema: { type: 'string', pattern: '^"[a-z-]+";q=[0-9]+;w=[0-9]+$' },
    example: '"generate";q=10;w=60',
  },
  IdempotentReplayed: {
    description: 'There when the answer is that of an earlier request with the same Idempotency-Key.',
    schema: { type: 'string', const: 'true' },
  },
};

/** A response of an operation, and its name in the document: programs that are made of it have that name, so it never changes. */
export interface NamedResponse {
  status: number;
  name: string;
  response: Schema;
}

/** Every response of an operation: its success, then its refusals by status. */
export function responsesOf(operationId: OperationId, route: Route, operation: Operation): NamedResponse[] {
  const { status = 200, schema, variant } = operation.answer;
  const byStatus = Object.groupBy(codesOf(route, operation), (code) => errorCodes[code].status);
  return [
    { status, name: variant?.name ?? schema ?? 'OpenApiDocument', response: success(route, operation) },
    ...(operation.generates ? [{ status: 202, name: 'AcceptedGeneration', response: accepted }] : []),
    ...(schema === null ? [{ status: 304, name: 'Unchanged', response: unchanged }] : []),
    // Keys that are whole numbers come in ascending order.
    ...Object.entries(byStatus).map(([key, codes]) => ({
      status: Number(key),
      name: `${operationId[0]!.toUpperCase()}${operationId.slice(1)}${key}`,
      response: refusal(route, codes!),
    })),
  ];
}

const accepted: Schema = {
  description:
    'Asked for with `Prefer: respond-async` or `wait`: the request is stored and its credits are held. It runs now.',
  headers: {
    'X-Request-Id': headerRef('RequestId'),
    'Cache-Control': headerRef('CacheControl'),
    Location: headerRef('Location'),
    'Preference-Applied': headerRef('PreferenceApplied'),
    'Retry-After': headerRef('RetryAfter'),
    ...rateHeaders,
  },
  content: {
    'application/json': {
      schema: schemaRef('AcceptedGeneration'),
      example: answerExamples.AcceptedGeneration,
    },
  },
};

const documentHeaders: Schema = {
  'X-Request-Id': headerRef('RequestId'),
  'Cache-Control': headerRef('CacheControlOfDocument'),
  ETag: headerRef('EntityTag'),
};

const unchanged: Schema = {
  description: 'It is still the one that `If-None-Match` names.',
  headers: documentHeaders,
};

function success(route: Route, { answer, generates }: Operation): Schema {
  const { schema, description, variant } = answer;
  const example = schema === null ? undefined : (variant?.example ?? answerExamples[schema]);
  const only = {
    schema: schema === null ? { type: 'object' } : schemaRef(schema),
    ...(example === undefined ? {} : { example }),
  };
  const json = generates
    ? {
        schema: { oneOf: [only.schema, schemaRef('DryRun')] },
        examples: { generated: { value: example }, dryRun: { value: answerExamples.DryRun } },
      }
    : only;
  if (schema === null)
    return { description, headers: documentHeaders, content: { 'application/json': json } };
  return {
    description,
    headers: {
      'X-Request-Id': headerRef('RequestId'),
      'Cache-Control': headerRef('CacheControl'),
      ...(route.limit || route.creationLimit ? rateHeaders : {}),
      ...(answer.pollable ? { 'Retry-After': headerRef('RetryAfterWhileOpen') } : {}),
      ...(route.streams ? { 'Idempotent-Replayed': headerRef('IdempotentReplayed') } : {}),
      ...(generates ? { 'Preference-Applied': headerRef('PreferenceApplied') } : {}),
    },
    content: { 'application/json': json, ...(route.streams ? { 'text/event-stream': eventStream } : {}) },
  };
}

const eventStream: Schema = {
  schema: {
    type: 'string',
    description:
      'Server-sent events: `accepted`, `queued` while it waits for the model, `started`, `progress`, and one of `completed` and ' +
      '`failed`. After `accepted` there is one at least every ten seconds. ' +
      'The data of each is JSON. The schema of the content names the data of every event by the event; so does x-events.',
    contentMediaType: 'text/event-stream',
    contentSchema: schemaRef('GenerationEvents'),
  },
  'x-events': Object.fromEntries(
    ['accepted', 'queued', 'started', 'progress', 'completed', 'failed'].map((name) => [
      name,
      { $ref: `${schemaRef('GenerationEvents').$ref}/properties/${name}` },
    ]),
  ),
  example: events,
};

/** All refusals of one status. */
function refusal(route: Route, codes: ErrorCode[]): Schema {
  // The credential is checked before the rate limit, so its refusals do not know the limit's state.
  const hasRateLimit =
    (route.limit !== undefined && !codes.every(isOfCredential)) ||
    // What a route makes is counted last.
    (route.creationLimit !== undefined && codes.includes('RATE_LIMITED'));
  const isRetried = codes.every((code) => errorCodes[code].retryAfterSeconds !== undefined);
  // The firewall answers these too, without a request's ID.
  const isFirewalls = codes.includes('RATE_LIMITED') || codes.includes('PAYLOAD_TOO_LARGE');
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    headers: {
      'X-Request-Id': headerRef(isFirewalls ? 'RequestIdUnlessBlocked' : 'RequestId'),
      'Cache-Control': headerRef('CacheControl'),
      ...(isRetried ? { 'Retry-After': headerRef('RetryAfter') } : {}),
      ...(hasRateLimit ? rateHeaders : {}),
    },
    content: {
      'application/json': {
        schema: schemaRef('Error'),
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  };
}

function isOfCredential(code: ErrorCode): boolean {
  return code === 'INVALID_API_KEY' || code === 'INVALID_SESSION';
}

/** Only a path outside of the document answers the first of these. */
const { METHOD_NOT_ALLOWED: _, ...documented } = errorExamples;

/** An example of each error code, for the refusals to refer to. */
export const errorAnswers: Record<string, Schema> = Object.fromEntries(
  Object.entries(documented).map(([code, error]) => [code, { value: { error, code } }]),
);

import { errorCodes, type ErrorCode } from '../errors.ts';
import type { Route } from '../routes.ts';
import { events } from './answer-examples.ts';
import { codesOf } from './error-codes.ts';
import { errorExamples } from './error-examples.ts';
import type { Operation } from './operations.ts';
import { schemaRef, type Schema } from './schemas.ts';

const headerRef = (name: string) => ({ $ref: `#/components/headers/${name}` });

/** What answers carry beside their bodies. */
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
  CacheControl: {
    description: 'No answer may be stored: answers hold links that open without a key.',
    required: true,
    schema: { type: 'string', const: 'no-store' },
  },
  RateLimit: {
    description:
      'What is left of the limit, and the seconds until more is (draft-ietf-httpapi-ratelimit-headers).',
    schema: { type: 'string', pattern: '^"[a-z]+";r=[0-9]+;t=[0-9]+$' },
    example: '"generate";r=3;t=12',
  },
  RateLimitPolicy: {
    description: 'The limit itself: requests, and the seconds of the window that they are counted in.',
    schema: { type: 'string', pattern: '^"[a-z]+";q=[0-9]+;w=[0-9]+$' },
    example: '"generate";q=10;w=60',
  },
  IdempotentReplayed: {
    description: 'There when the answer is that of an earlier request with the same Idempotency-Key.',
    schema: { type: 'string', const: 'true' },
  },
};

/** Every answer of an operation by its status. */
export function responsesOf(route: Route, operation: Operation): Record<string, Schema> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codesOf(route, operation)) {
    const { status } = errorCodes[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const refusals = [...byStatus].sort(([a], [b]) => a - b);
  return {
    [operation.answer.status]: success(route, operation),
    ...Object.fromEntries(refusals.map(([status, codes]) => [status, refusal(route, codes)])),
  };
}

function success(route: Route, { answer, dryRun }: Operation): Schema {
  const { schema, example, description } = answer;
  const only = {
    schema: schema === null ? { type: 'object' } : schemaRef(schema),
    ...(example === undefined ? {} : { example }),
  };
  const json = dryRun
    ? {
        schema: { oneOf: [only.schema, schemaRef(dryRun.schema)] },
        examples: { generated: { value: example }, dryRun: { value: dryRun.example } },
      }
    : only;
  return {
    description,
    headers: {
      'X-Request-Id': headerRef('RequestId'),
      'Cache-Control': headerRef('CacheControl'),
      ...rateHeaders(route),
      ...(route.streams ? { 'Idempotent-Replayed': headerRef('IdempotentReplayed') } : {}),
    },
    content: { 'application/json': json, ...(route.streams ? { 'text/event-stream': eventStream } : {}) },
  };
}

const eventStream: Schema = {
  schema: {
    type: 'string',
    description:
      'Server-sent events: `accepted`, `started`, `progress` at least every ten seconds, and one of `completed` and `failed`. ' +
      'The data of each is JSON. The schema of the content names the data of every event by the event; so does x-events.',
    contentMediaType: 'text/event-stream',
    contentSchema: schemaRef('GenerationEvents'),
  },
  'x-events': Object.fromEntries(
    ['accepted', 'started', 'progress', 'completed', 'failed'].map((name) => [
      name,
      { $ref: `${schemaRef('GenerationEvents').$ref}/properties/${name}` },
    ]),
  ),
  example: events,
};

function refusal(route: Route, codes: ErrorCode[]): Schema {
  const retried = codes.every((code) => errorCodes[code].retryAfterSeconds !== undefined);
  const firewalls = codes.includes('RATE_LIMITED') || codes.includes('PAYLOAD_TOO_LARGE');
  return {
    description: codes.map((code) => `\`${code}\``).join(', '),
    headers: {
      'X-Request-Id': headerRef(firewalls ? 'RequestIdUnlessBlocked' : 'RequestId'),
      'Cache-Control': headerRef('CacheControl'),
      ...(retried ? { 'Retry-After': headerRef('RetryAfter') } : {}),
      ...(codes.every(isOfCredential) ? {} : rateHeaders(route)),
    },
    content: {
      'application/json': {
        schema: errorSchema(codes),
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  };
}

/** Made before the caller, and with it the state of a limit, is known. */
function isOfCredential(code: ErrorCode): boolean {
  return code === 'INVALID_API_KEY' || code === 'INVALID_SESSION';
}

/** Which codes there can be is the status's. */
function errorSchema(codes: ErrorCode[]): Schema {
  return { ...schemaRef('Error'), properties: { code: { enum: codes } } };
}

/** An answer of each code, for the statuses to refer to. */
export const errorAnswers: Record<string, Schema> = Object.fromEntries(
  Object.entries(errorExamples).map(([code, error]) => [code, { value: { error, code } }]),
);

function rateHeaders({ limit }: Route): Schema {
  if (!limit) return {};
  return { RateLimit: headerRef('RateLimit'), 'RateLimit-Policy': headerRef('RateLimitPolicy') };
}

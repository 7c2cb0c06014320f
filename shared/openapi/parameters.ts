import { playgroundCaller, searchText } from '../generations/contract.ts';
import { generationStatuses, generationTypes } from '../base/generation-kinds.ts';
import { maxRefusalDays } from '../limits/refusal-days.ts';
import { ids } from './answer-examples.ts';
import { standalone } from './json-schema.ts';
import type { Schema } from './schema.ts';

const query = (name: string, description: string, schema: Schema, more: Schema = {}): Schema => ({
  name,
  in: 'query',
  description,
  schema,
  ...more,
});

const path = (name: string, description: string, schema: Schema, example: string): Schema => ({
  name,
  in: 'path',
  required: true,
  description,
  schema,
  example,
});

const identifier: Schema = { type: 'string', pattern: '^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$' };
const licenseId: Schema = { type: 'string', minLength: 1 };

const instant: Schema = { type: 'string', format: 'date-time' };

const searchDescription =
  'Only requests whose prompt has all these words, in any case, also inside longer words. It reads back through the ' +
  'history: each call looks at some 1,000 requests, and `searchedBackTo` says how far it came.';

/** Every parameter of path, query and headers, by its name in the document. */
export const parameters = {
  requestId: path('requestId', 'The `requestId` of an answer.', { type: 'string' }, ids.requestId),
  identityName: path('identityId', 'The id of an identity, or a slug.', { type: 'string' }, ids.identityId),
  keyId: path('keyId', 'From `GET /keys`; never the key itself.', { type: 'string' }, ids.keyId),
  limit: query('limit', 'How many to list.', { type: 'integer', minimum: 1, maximum: 100, default: 20 }),
  keyLimit: query('limit', 'How many a page; all by default.', { type: 'integer', minimum: 1, maximum: 100 }),
  days: query('days', 'How many days back, today included.', {
    type: 'integer',
    minimum: 1,
    maximum: maxRefusalDays,
    default: maxRefusalDays,
  }),
  refusedRequestId: query('requestId', 'Only the request whose answer had this `X-Request-Id`.', {
    type: 'string',
    pattern: '^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-7[0-9A-Fa-f]{3}-[89ABab][0-9A-Fa-f]{3}-[0-9A-Fa-f]{12}$',
  }),
  cursor: query('cursor', 'The `nextCursor` of an earlier answer.', { type: 'string', minLength: 1 }),
  identityId: query('identityId', 'Only requests to this identity, by its id or slug.', identifier),
  status: query('status', 'Only requests with this status.', { type: 'string', enum: generationStatuses }),
  type: query('type', 'Only requests of this type.', { type: 'string', enum: generationTypes }),
  callerKeyId: query('keyId', 'Only requests by this key; `playground` for those made there.', {
    type: 'string',
    pattern: `^(key_[0-9a-f]{32}|${playgroundCaller})$`,
  }),
  createdAfter: query('createdAfter', 'Only requests accepted then or later.', instant),
  createdBefore: query('createdBefore', 'Only requests accepted before.', instant),
  search: query('search', searchDescription, standalone(searchText)),
  licenseIdInPath: path(
    'licenseId',
    "One of the account's licenses, from `GET /licenses`.",
    { type: 'string' },
    ids.licenseId,
  ),
  licenseId: query('licenseId', "One of the account's licenses, from `GET /licenses`.", licenseId, {
    required: true,
  }),
  licenseIdBySession: query(
    'licenseId',
    "By session only, where it is required: one of the account's licenses. By key it is refused: a key names its license.",
    licenseId,
  ),
  narrowedBySession: query(
    'licenseId',
    "By session only: narrows the answer to one of the account's licenses. By key it is refused.",
    licenseId,
  ),
  dryRun: query(
    'dryRun',
    'Every check of the request, and what it would cost: nothing is generated, held, charged or stored. A refusal is the one ' +
      'that the request itself would have. It counts for the rate limit.',
    { type: 'boolean', default: false },
  ),
  // It has no example, because tools send examples: the second request with the same key would be refused as a mismatch.
  idempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Makes a retry safe: 1 to 255 visible ASCII characters, bare or as a quoted string. For 24 hours a repeat with the ' +
      'same body answers with the first result and charges nothing. A request that failed frees its key. Send a UUID ' +
      'of your own for each request that you mean.',
    schema: { type: 'string', pattern: '^(?!""$)([!-~]{1,255}|"([!#-\\[\\]-~]|\\\\["\\\\]){1,255}")$' },
  },
  // Without an example, too: it would make every try of the operation an asynchronous one.
  prefer: {
    name: 'Prefer',
    in: 'header',
    description:
      '`respond-async` (RFC 7240): the request is checked and its credits are held as ever, then it is answered with 202 ' +
      'while it waits for the model and runs. `GET /generate/{requestId}` says how it goes on. A model that is starting is ' +
      'waited for. `wait=20` does the same and waits for the end so many seconds, 1 to 60: 200 as usual, the error that it ' +
      'ended with, or 202, which comes after 3 seconds where the model sleeps. Other preferences are ignored. A dry run is answered with its result. With `Accept: ' +
      'text/event-stream` too, `wait` is ignored, and `respond-async` wins.',
    schema: { type: 'string' },
  },
  ifNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'The `ETag` of a copy: 304 without a body says that it is still the same.',
    schema: { type: 'string' },
  },
} satisfies Record<string, Schema>;

export type ParameterName = keyof typeof parameters;

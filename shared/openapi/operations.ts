import type { ErrorCode } from '../base/errors.ts';
import type { routes } from '../routes/routes.ts';
import * as examples from './answer-examples.ts';
import type { ParameterName } from './parameters.ts';
import type { SchemaName } from './schemas.ts';

/** The routes in this API's own words. */
export type OperationId = {
  [Id in keyof typeof routes]: (typeof routes)[Id] extends { apiFormat: string } ? never : Id;
}[keyof typeof routes];

/** What the document says of a route beyond the table of routes. */
export interface Operation {
  tag: 'Generating' | 'Account' | 'Service';
  summary: string;
  description?: string;
  parameters?: ParameterName[];
  body?: { schema: SchemaName; optional?: true; examples: Record<string, unknown> };
  /** @default status: 200 */
  answer: {
    status?: 201;
    schema: SchemaName | null;
    description: string;
    /** Where another answer has the schema, too: its own name and example. */
    variant?: { name: string; example: unknown };
    /** Whether it says when to ask again, while there is more to come. */
    pollable?: true;
  };
  /** Whether it generates: `?dryRun=true` and `Prefer` have answers of their own. */
  generates?: true;
  /** The error codes that do not follow from the table of routes: see `codesOf`. */
  codes?: ErrorCode[];
}

const generationCodes: ErrorCode[] = [
  'MISSING_IDENTITY',
  'IDENTITY_NOT_FOUND',
  'IDENTITY_MISMATCH',
  'TIER_LIMIT',
  'CONTENT_REFUSED',
  'CREDIT_LIMIT_EXCEEDED',
  'IDENTITY_UNAVAILABLE',
  'GENERATION_FAILED',
  'CANCELLED',
  'IDEMPOTENCY_IN_PROGRESS',
  'IDEMPOTENCY_MISMATCH',
  // Where the first request with its idempotency key was deleted.
  'REQUEST_NOT_FOUND',
];

const generated: Operation['answer'] = {
  schema: 'Generation',
  description:
    'The images are stored and charged. Asked for with `Accept: text/event-stream`, the answer is this as soon as the ' +
    'request is accepted, and reports how it goes on.',
};

export const operations: Record<OperationId, Operation> = {
  createGeneration: {
    tag: 'Generating',
    summary: 'Generate images',
    description:
      'Answers once the images are stored, or at once with `Prefer: respond-async`, or after a while with `Prefer: wait=20`. Checks come in the order of the error codes: the key, the rate limit, the body, the ' +
      'identity, the parameters, the tier, the credits, the model, the prompt where the operator has prompts checked, the reference images. Nothing is charged for a request ' +
      'that fails.',
    parameters: ['idempotencyKey', 'dryRun', 'prefer'],
    body: {
      schema: 'GenerationRequest',
      examples: { prompt: examples.generationBody, product: examples.productBody },
    },
    answer: generated,
    generates: true,
    codes: generationCodes,
  },
  getGeneration: {
    tag: 'Generating',
    summary: 'Fetch a stored request',
    description: "Signs its links anew. How long requests are kept is the operator's choice.",
    parameters: ['requestId'],
    answer: {
      schema: 'StoredGeneration',
      description: 'The request as it stands now. `Retry-After` is there until it has ended.',
      pollable: true,
    },
    codes: ['REQUEST_NOT_FOUND'],
  },
  deleteGeneration: {
    tag: 'Generating',
    summary: 'Delete a stored request',
    description:
      'For good: its images, their previews, the copies of its references, its prompt and its negative prompt. The license has nothing back: credits and ' +
      'statistics stay. After it the request is not found, and neither is a repeat with its Idempotency-Key.',
    parameters: ['requestId'],
    answer: { schema: 'DeletedGeneration', description: 'Nothing is stored of the request any more.' },
    codes: ['REQUEST_NOT_FOUND', 'REQUEST_IN_PROGRESS'],
  },
  cancelGeneration: {
    tag: 'Generating',
    summary: 'Cancel a request that runs',
    description:
      'Its credits and its Idempotency-Key are free again, and the model stops within two seconds. The call that waits for its images gets ' +
      '400 CANCELLED. Cancelling it again answers the same; one that has ended otherwise stays as it is. It needs no body.',
    parameters: ['requestId'],
    answer: {
      schema: 'StoredGeneration',
      description: 'The request: `FAILED`, with the errorCode `CANCELLED`.',
      variant: { name: 'CancelledGeneration', example: examples.cancelled },
    },
    codes: ['INVALID_BODY', 'REQUEST_NOT_FOUND', 'REQUEST_FINAL'],
  },
  listGenerations: {
    tag: 'Generating',
    summary: 'List stored requests',
    description: 'A page at a time; `nextCursor` is null on the last one. Links are signed anew.',
    parameters: [
      'limit',
      'cursor',
      'identityId',
      'status',
      'type',
      'callerKeyId',
      'createdAfter',
      'createdBefore',
      'search',
      'licenseIdBySession',
    ],
    answer: { schema: 'StoredGenerationList', description: "A license's stored requests, newest first." },
    codes: ['LICENSE_NOT_FOUND'],
  },
  listIdentities: {
    tag: 'Generating',
    summary: 'List the identities that may be used',
    description:
      'An identity that is not `available` now is listed too: generating with it is 503 IDENTITY_UNAVAILABLE.',
    parameters: ['narrowedBySession'],
    answer: {
      schema: 'IdentityList',
      description: 'Those that the key, or any active license of the account, covers.',
    },
    codes: ['LICENSE_NOT_FOUND'],
  },
  getIdentity: {
    tag: 'Generating',
    summary: 'Get an identity',
    description: 'With its versions, which a request may pin by `identityVersion`.',
    parameters: ['identityName', 'narrowedBySession'],
    answer: { schema: 'IdentityDetail', description: 'The identity.' },
    codes: ['IDENTITY_NOT_FOUND', 'IDENTITY_MISMATCH', 'LICENSE_NOT_FOUND'],
  },
  createUpload: {
    tag: 'Generating',
    summary: 'Open an upload for a reference image',
    description:
      "By session the body names one of the account's licenses; by key it must not, and may be left out.",
    body: {
      schema: 'UploadRequest',
      optional: true,
      examples: {
        byKey: examples.uploadBody,
        bySession: { ...examples.uploadBody, licenseId: examples.ids.licenseId },
      },
    },
    answer: { status: 201, schema: 'Upload', description: 'A form to send one file with, within the hour.' },
    codes: ['LICENSE_NOT_FOUND', 'LICENSE_INACTIVE'],
  },
  getKey: {
    tag: 'Account',
    summary: 'What a key may still do',
    answer: {
      schema: 'KeyAllowance',
      description: 'The key that asks, and what is left of its limits, credits and budget.',
    },
  },
  listLicenses: {
    tag: 'Account',
    summary: "List the account's licenses",
    description: 'Active ones and those that have ended. `usable` says whether one generates now.',
    answer: { schema: 'LicenseList', description: 'Each with its tier, limits and period.' },
  },
  getUsage: {
    tag: 'Account',
    summary: "A license's billing period",
    description: 'Counts requests by key and those of the playground.',
    parameters: ['licenseId'],
    answer: {
      schema: 'Usage',
      description: 'Statistics and tallies of the period that runs, and the newest requests.',
    },
    codes: ['LICENSE_NOT_FOUND'],
  },
  listActivity: {
    tag: 'Account',
    summary: 'List what was changed of a license',
    description:
      'Its keys that were issued, changed and revoked, and the license itself: when, and by whom. A page at a time; `nextCursor` is ' +
      'null on the last one. Kept for 400 days.',
    parameters: ['licenseIdInPath', 'limit', 'cursor'],
    answer: { schema: 'ActivityList', description: 'Newest first.' },
    codes: ['LICENSE_NOT_FOUND'],
  },
  listRefusals: {
    tag: 'Account',
    summary: 'Count the requests that were refused',
    description:
      'By day, key and error code, for requests by its keys and for those made in the playground. What failed on our side, and ' +
      'what failed after it was accepted, is no refusal. Days are those of UTC.',
    parameters: ['licenseIdInPath', 'days'],
    answer: { schema: 'RefusalList', description: 'Newest day first.' },
    codes: ['LICENSE_NOT_FOUND'],
  },
  listRefusedRequests: {
    tag: 'Account',
    summary: 'List the newest requests that were refused',
    description:
      'At most 100 of the last 14 days, without prompts. What counts as refused is what `GET /licenses/{licenseId}/refusals` counts; ' +
      'where several were refused within ten seconds, the later ones may only be counted there.',
    parameters: ['licenseIdInPath', 'refusedRequestId'],
    answer: { schema: 'RefusedRequestList', description: 'Newest first.' },
    codes: ['LICENSE_NOT_FOUND'],
  },
  createKey: {
    tag: 'Account',
    summary: 'Create an API key',
    description:
      'For one license, whose credits it spends. A license has at most 25 active keys, and at most 50 that are active or ended ' +
      'within the last minute.',
    body: { schema: 'CreateKeyRequest', examples: { key: examples.keyBody } },
    answer: {
      status: 201,
      schema: 'CreatedKey',
      description: 'The only answer that ever shows the raw key.',
    },
    codes: ['LICENSE_NOT_FOUND', 'LICENSE_INACTIVE', 'KEY_LIMIT_REACHED'],
  },
  listKeys: {
    tag: 'Account',
    summary: "List the account's API keys",
    description:
      'All of them, newest first, or with `limit` a page at a time; `nextCursor` is null where no more follow. Keys that have ' +
      'expired or were revoked are listed too, for 90 days.',
    parameters: ['keyLimit', 'cursor'],
    answer: { schema: 'KeyList', description: 'What is known of each; never the keys themselves.' },
  },
  getAccount: {
    tag: 'Account',
    summary: "Read the account's settings",
    answer: { schema: 'Account', description: 'The settings as they are now.' },
  },
  updateAccount: {
    tag: 'Account',
    summary: "Change the account's settings",
    description: 'What is left out stays as it is.',
    body: { schema: 'ChangeAccountRequest', examples: { off: { creditMails: false } } },
    answer: { schema: 'Account', description: 'The settings as they are now.' },
  },
  updateKey: {
    tag: 'Account',
    summary: "Change an API key's name, limits or access",
    description:
      'Send at least one of them. They hold from the next request on. `null` takes a limit away; what is left out stays as it is. A ' +
      'budget below what is used already only refuses new requests. Keys that have expired or were revoked may be changed ' +
      'as long as they are listed.',
    parameters: ['keyId'],
    body: { schema: 'ChangeKeyRequest', examples: { budget: examples.keyChangeBody } },
    answer: { schema: 'Key', description: 'The key as it is now, as `GET /keys` lists it.' },
    codes: ['KEY_NOT_FOUND'],
  },
  revokeKey: {
    tag: 'Account',
    summary: 'Revoke an API key',
    description: 'For good, from the next request on. Asking again answers the same.',
    parameters: ['keyId'],
    answer: { schema: 'RevokedKey', description: 'No request with the key is accepted any more.' },
    codes: ['KEY_NOT_FOUND'],
  },
  createPlaygroundGeneration: {
    tag: 'Account',
    summary: 'Generate images by session',
    description: 'POST /generate for a signed-in account, which names the license that pays.',
    parameters: ['idempotencyKey', 'dryRun', 'prefer'],
    body: {
      schema: 'PlaygroundGenerationRequest',
      examples: { prompt: { ...examples.generationBody, licenseId: examples.ids.licenseId } },
    },
    answer: generated,
    generates: true,
    codes: [...generationCodes, 'LICENSE_NOT_FOUND', 'LICENSE_INACTIVE'],
  },
  getHealth: {
    tag: 'Service',
    summary: 'Whether the service is up',
    description:
      'The models are asked at most every 10 seconds. It does not start a model that is scaled to zero.',
    answer: {
      schema: 'Health',
      description: 'Always 200: the body says of the API and of the models how they are.',
    },
  },
  getOpenApi: {
    tag: 'Service',
    summary: "The API's OpenAPI document",
    description: 'Made from the schemas that check requests.',
    parameters: ['ifNoneMatch'],
    answer: { schema: null, description: 'OpenAPI 3.1.' },
  },
};

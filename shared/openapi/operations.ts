import type { ErrorCode } from '../errors.ts';
import type { routes } from '../routes.ts';
import * as examples from './answer-examples.ts';
import type { ParameterName } from './parameters.ts';
import type { SchemaName } from './schemas.ts';

export type OperationId = keyof typeof routes;

/** What the table of routes does not tell about one of them. */
export interface Operation {
  tag: 'Generating' | 'Account' | 'Service';
  summary: string;
  description?: string;
  parameters?: ParameterName[];
  /** The body's schema; where there are two, the credential decides which. */
  body?: { schemas: SchemaName[]; optional?: true; examples: Record<string, unknown> };
  answer: { status: 200 | 201; schema: SchemaName | null; description: string; example?: unknown };
  /** The other form of its answer, which `?dryRun=true` asks for. */
  dryRun?: { schema: SchemaName; example: unknown };
  /** Beside those that follow from the route's row: see `codesOf`. */
  codes?: ErrorCode[];
}

const generationCodes: ErrorCode[] = [
  'MISSING_IDENTITY',
  'IDENTITY_NOT_FOUND',
  'IDENTITY_MISMATCH',
  'TIER_LIMIT',
  'CREDIT_LIMIT_EXCEEDED',
  'IDENTITY_UNAVAILABLE',
  'GENERATION_FAILED',
  'IDEMPOTENCY_IN_PROGRESS',
  'IDEMPOTENCY_MISMATCH',
];

const generated: Operation['answer'] = {
  status: 200,
  schema: 'Generation',
  description:
    'The images are stored and charged. Asked for with `Accept: text/event-stream`, the answer is this as soon as the ' +
    'request is accepted, and tells how it goes on.',
  example: examples.generation,
};

const dryRun: Operation['dryRun'] = { schema: 'DryRun', example: examples.dryRun };

export const operations: Record<OperationId, Operation> = {
  createGeneration: {
    tag: 'Generating',
    summary: 'Generate images',
    description:
      'Answers once the images are stored. Checks come in the order of the error codes: the key, the rate limit, the body, the ' +
      'identity, the parameters, the tier, the credits, the model. Nothing is charged for a request that fails.',
    parameters: ['idempotencyKey', 'dryRun'],
    body: {
      schemas: ['GenerationRequest'],
      examples: { prompt: examples.generationBody, product: examples.productBody },
    },
    answer: generated,
    dryRun,
    codes: generationCodes,
  },
  getGeneration: {
    tag: 'Generating',
    summary: 'Fetch a stored request',
    description: 'Signs its links anew. Requests are kept for 90 days.',
    parameters: ['requestId'],
    answer: {
      status: 200,
      schema: 'StoredGeneration',
      description: 'The request as it stands now.',
      example: examples.stored,
    },
    codes: ['REQUEST_NOT_FOUND'],
  },
  listGenerations: {
    tag: 'Generating',
    summary: 'List stored requests',
    description: 'A page at a time; `nextCursor` is null on the last one. Links are signed anew.',
    parameters: ['limit', 'cursor', 'identityId', 'status', 'type', 'licenseIdBySession'],
    answer: {
      status: 200,
      schema: 'StoredGenerationList',
      description: "A license's stored requests, newest first.",
      example: examples.generations,
    },
    codes: ['LICENSE_NOT_FOUND'],
  },
  listIdentities: {
    tag: 'Generating',
    summary: 'List the identities that may be used',
    description:
      'An identity that is not `available` now is listed too: generating with it is 503 IDENTITY_UNAVAILABLE.',
    parameters: ['narrowedBySession'],
    answer: {
      status: 200,
      schema: 'IdentityList',
      description: 'Those that the key, or any active license of the account, covers.',
      example: examples.identities,
    },
    codes: ['LICENSE_NOT_FOUND'],
  },
  createUpload: {
    tag: 'Generating',
    summary: 'Open an upload for a reference image',
    description:
      "By session the body names one of the account's licenses; by key it must not, and may be left out.",
    body: {
      schemas: ['UploadByKeyRequest', 'UploadBySessionRequest'],
      optional: true,
      examples: {
        byKey: examples.uploadBody,
        bySession: { ...examples.uploadBody, licenseId: examples.ids.licenseId },
      },
    },
    answer: {
      status: 201,
      schema: 'Upload',
      description: 'A form to send one file with, within the hour.',
      example: examples.upload,
    },
    codes: ['LICENSE_NOT_FOUND', 'LICENSE_INACTIVE'],
  },
  listLicenses: {
    tag: 'Account',
    summary: "List the account's licenses (access records)",
    description: 'Active ones and those that have ended. `usable` says whether one generates now.',
    answer: {
      status: 200,
      schema: 'LicenseList',
      description: 'Each with its tier, limits and period.',
      example: examples.licenses,
    },
  },
  getUsage: {
    tag: 'Account',
    summary: "A license's billing period",
    description: 'Counts requests by key and those of the playground.',
    parameters: ['licenseId'],
    answer: {
      status: 200,
      schema: 'Usage',
      description: 'Statistics, history and tallies of the period that runs.',
      example: examples.usage,
    },
    codes: ['LICENSE_NOT_FOUND'],
  },
  createKey: {
    tag: 'Account',
    summary: 'Create an API key',
    description: 'For one license, whose credits it spends. A license has at most 25 active keys.',
    body: { schemas: ['CreateKeyRequest'], examples: { key: examples.keyBody } },
    answer: {
      status: 201,
      schema: 'CreatedKey',
      description: 'The only answer that ever shows the raw key.',
      example: examples.createdKey,
    },
    codes: ['LICENSE_NOT_FOUND', 'LICENSE_INACTIVE', 'KEY_LIMIT_REACHED'],
  },
  listKeys: {
    tag: 'Account',
    summary: "List the account's API keys",
    description: 'Newest first, those that have expired or were revoked too.',
    answer: {
      status: 200,
      schema: 'KeyList',
      description: 'What is known of each; never the keys themselves.',
      example: examples.keys,
    },
  },
  revokeKey: {
    tag: 'Account',
    summary: 'Revoke an API key',
    description: 'For good, from the next request on. Asking again answers the same.',
    parameters: ['keyId'],
    answer: {
      status: 200,
      schema: 'RevokedKey',
      description: 'No request with the key is accepted any more.',
      example: examples.revokedKey,
    },
    codes: ['KEY_NOT_FOUND'],
  },
  createPlaygroundGeneration: {
    tag: 'Account',
    summary: 'Generate images by session',
    description: 'POST /generate for a signed-in account, which names the license that pays.',
    parameters: ['idempotencyKey', 'dryRun'],
    body: {
      schemas: ['PlaygroundGenerationRequest'],
      examples: { prompt: { ...examples.generationBody, licenseId: examples.ids.licenseId } },
    },
    answer: generated,
    dryRun,
    codes: [...generationCodes, 'LICENSE_NOT_FOUND', 'LICENSE_INACTIVE'],
  },
  getHealth: {
    tag: 'Service',
    summary: 'Whether the service is up',
    description: 'The models are asked at most every 10 seconds.',
    answer: {
      status: 200,
      schema: 'Health',
      description: 'Always 200: the API and the models are told apart by the body.',
      example: examples.health,
    },
  },
  getOpenApi: {
    tag: 'Service',
    summary: 'This document',
    description: 'Made from the schemas that check requests.',
    answer: { status: 200, schema: null, description: 'OpenAPI 3.1.' },
  },
};

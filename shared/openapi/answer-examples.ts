import type { ActivityList } from '../licenses/activity-contract.ts';
import type { CreatedKey, KeyAllowance, KeyAnswer, KeyList, RevokedKey } from '../keys/answer-contract.ts';
import type {
  AcceptedGeneration,
  DeletedGeneration,
  DryRunAnswer,
  GenerationAnswer,
  GenerationList,
  StoredGeneration,
} from '../generations/answer-contract.ts';
import type { HealthAnswer } from '../model/health-contract.ts';
import type { IdentityAnswer, IdentityDetail, IdentityList } from '../identities/contract.ts';
import type { LicenseList } from '../licenses/contract.ts';
import type { RefusalList, RefusedRequestList } from '../limits/contract.ts';
import type { UploadAnswer } from '../images/answer-contract.ts';
import type { UsageAnswer } from '../licenses/usage-contract.ts';
import type { SchemaName } from './schemas.ts';

const requestId = '019aa3c2-7b1e-7c55-9d0c-3b8f6f0e2a41';
const licenseId = 'lic_5uB0kP3nT8xW2cYq7LzR';
const keyId = 'key_3f6c1d0b9a8e7f5d4c2b1a0f9e8d7c6b';
const identity = { id: 'idn_9fXo2LqV7mRk3BzTa5Wc', name: 'aurora', slug: 'aurora' };
const signature = 'b7d4c1e09a86f2d4b8e07c15a3f60c2a9e5b7d4c1e9a86d2f4b8e07c153f0c2a';
const linkTo = (file: string) => signed(`generations/${licenseId}/${requestId}/${file}`);
const sampleLink = (name: string) => signed(`samples/${identity.id}/${name}.webp`);
const signed = (key: string) =>
  `https://images.example.com/${key}` +
  `?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=3600&X-Amz-Signature=${signature}`;
const outputs = [linkTo('output-0.png')];
const previews = [linkTo('preview-0.webp')];
const prompt = 'a calm night over the mountains';
const acceptedAt = '2026-11-21T09:30:00.000Z';
const completedAt = '2026-11-21T09:30:06.412Z';
const periodStart = '2026-11-12T08:00:00.000Z';
const periodEnd = '2026-12-12T08:00:00.000Z';

const generation: GenerationAnswer = {
  requestId,
  outputs,
  previews,
  identity: { id: identity.id, name: identity.name },
  identityVersion: 3,
  referenceImagesUsed: 0,
  usage: {
    creditsUsed: 128,
    creditsLimit: 4000,
    creditsRemaining: 3872,
    creditsCharged: 1,
    periodResetDate: periodEnd,
  },
  processingTimeMs: 6412,
  seed: 3141592653,
};

const dryRun: DryRunAnswer = {
  dryRun: true,
  accepted: true,
  identity: generation.identity,
  credits: 1,
  usage: { ...generation.usage, creditsCharged: 0 },
};

const deleted: DeletedGeneration = { requestId, deleted: true };

const accepted: AcceptedGeneration = { requestId, status: 'QUEUED', creditsReserved: 1 };

const stored: StoredGeneration = {
  id: requestId,
  licenseId,
  keyId,
  type: 'text_to_image',
  status: 'COMPLETED',
  identity,
  identityVersion: 3,
  prompt,
  effectivePrompt: null,
  negativePrompt: '',
  seed: 3141592653,
  steps: 30,
  cfgScale: 7.5,
  width: 1024,
  height: 1024,
  numOutputs: 1,
  outputFormat: 'png',
  referenceMode: 'reference',
  preserveBranding: false,
  outputUrl: outputs[0]!,
  outputs,
  previews,
  errorMessage: null,
  errorCode: null,
  creditsCharged: 1,
  referenceImagesUsed: 0,
  processingTimeMs: 6412,
  modelVersion: '2026-10',
  createdAt: acceptedAt,
  startedAt: '2026-11-21T09:30:00.731Z',
  completedAt,
};

export const cancelled: StoredGeneration = {
  ...stored,
  status: 'FAILED',
  outputUrl: null,
  outputs: [],
  previews: [],
  errorMessage: 'The request was cancelled.',
  errorCode: 'CANCELLED',
  creditsCharged: 0,
  modelVersion: null,
};

const generations: GenerationList = {
  generations: [stored],
  nextCursor: 'MDE5YWEzYzItN2IxZS03YzU1LTlkMGMtM2I4ZjZmMGUyYTQx',
  searchedBackTo: '2025-11-21T00:13:43.070Z',
};

const identitySample = {
  url: sampleLink('3b1f8e0c5d7a49b2860f1c4e9d2a7b53'),
  thumbnailUrl: sampleLink('3b1f8e0c5d7a49b2860f1c4e9d2a7b53-thumbnail'),
  width: 1024,
  height: 768,
  prompt: 'A cabin by a frozen lake, green curtains of light above',
};

const listedIdentity: IdentityAnswer = {
  ...identity,
  description: 'Curtains of light over quiet northern land.',
  productPhotos: false,
  available: true,
  version: 3,
  triggerWords: ['qx7'],
  defaultSize: { width: 1024, height: 768 },
  license: 'CC-BY-4.0',
  source: 'Painted by Ada Lind for this service.',
  samples: [identitySample],
};

const identities: IdentityList = { identities: [listedIdentity] };

const identityDetail: IdentityDetail = {
  ...listedIdentity,
  versions: [
    {
      version: 3,
      active: true,
      createdAt: '2026-11-02T10:00:00.000Z',
      note: 'Trained on more nights.',
      retiresAt: null,
      samples: [identitySample],
    },
  ],
};

const licenses: LicenseList = {
  licenses: [
    {
      licenseId,
      name: 'Pro',
      tier: 'Pro',
      status: 'active',
      usable: true,
      apiAccess: true,
      foundingCatalog: true,
      identityIds: [],
      creditsLimit: 4000,
      maxOutputs: 4,
      maxSidePx: 2048,
      maxInFlight: 40,
      billingPeriodStart: periodStart,
      billingPeriodEnd: periodEnd,
      activeUntil: null,
      createdAt: '2026-01-12T08:00:00.000Z',
    },
  ],
};

const usage: UsageAnswer = {
  licenseId,
  stats: {
    current: 128,
    limit: 4000,
    percentage: 3,
    billingPeriodStart: periodStart,
    billingPeriodEnd: periodEnd,
    daysRemaining: 21,
    tier: 'Pro',
  },
  history: [
    {
      requestId,
      type: 'text_to_image',
      status: 'COMPLETED',
      identity,
      numOutputs: 1,
      creditsCharged: 1,
      createdAt: acceptedAt,
      completedAt,
    },
  ],
  aggregates: {
    byType: {
      text_to_image: { requests: 104, credits: 128 },
      reference: { requests: 0, credits: 0 },
      exact_product: { requests: 0, credits: 0 },
    },
    byIdentity: { [identity.id]: { requests: 104, credits: 128, name: 'aurora', slug: 'aurora' } },
    byKey: {
      [keyId]: { name: 'my app', requests: 90, credits: 112 },
      playground: { name: 'Playground', requests: 14, credits: 16 },
    },
    byDay: [{ date: '2026-11-12', requests: 104, credits: 128 }],
  },
};

const ofKey = { keyId, keyPrefix: 'svc_live_3Fq8', name: 'my app', licenseId, createdAt: acceptedAt };

const createdKey: CreatedKey = {
  ...ofKey,
  key: 'svc_live_3Fq8ZpN0sVb6YtKc1RwXe5LmJd7HgA2u0xQ4Tz',
  expiresAt: null,
  monthlyCredits: 500,
  access: 'own',
  maxInFlight: 5,
};

const key: KeyAnswer = {
  ...ofKey,
  status: 'active',
  lastUsedAt: completedAt,
  expiresAt: null,
  revokedAt: null,
  monthlyCredits: 500,
  access: 'own',
  maxInFlight: 5,
  creditsUsed: 112,
};

const keys: KeyList = { keys: [key], nextCursor: null };

const allowance: KeyAllowance = {
  keyId,
  keyPrefix: ofKey.keyPrefix,
  name: ofKey.name,
  expiresAt: null,
  access: 'own',
  license: {
    licenseId,
    name: 'Pro',
    tier: 'Pro',
    maxOutputs: 4,
    maxSidePx: 2048,
    maxInFlight: 40,
    inFlight: 2,
  },
  credits: { limit: 4000, used: 128, remaining: 3869, resetsAt: periodEnd },
  budget: { monthlyCredits: 500, used: 112, remaining: 387 },
  maxInFlight: 5,
  inFlight: 1,
  requests: { perMinute: 10, remaining: 7, resetSeconds: 12 },
  identities: [{ ...identity, available: true }],
};

const revokedKey: RevokedKey = { keyId, status: 'revoked', revokedAt: completedAt };

const activity: ActivityList = {
  activity: [
    {
      id: '019aa3c2-7b1e-7c55-9d0c-3b8f6f0e2a42',
      at: acceptedAt,
      by: 'owner',
      action: 'key_issued',
      keyId,
      keyName: 'my app',
      changes: [{ member: 'name', from: null, to: 'my app' }],
    },
  ],
  nextCursor: null,
};

const refusals: RefusalList = {
  days: [{ date: '2026-11-21', refusals: [{ keyId, code: 'TIER_LIMIT', count: 37 }] }],
};

const refused: RefusedRequestList = {
  requests: [
    {
      requestId: '019aa3c2-8f40-7a1c-b2d5-0e9c4a7f3b18',
      at: '2026-11-21T10:30:05.440Z',
      route: 'POST /generate',
      keyId,
      keyName: 'my app',
      status: 400,
      code: 'TIER_LIMIT',
      error: 'On the Starter tier numOutputs must be at most 1.',
    },
  ],
};

const upload: UploadAnswer = {
  uploadId: 'upl_019aa3c2-7b1e-7c55-9d0c-3b8f6f0e2a41',
  url: 'https://images.example.com/',
  fields: {
    key: `uploads/${licenseId}/upl_019aa3c2-7b1e-7c55-9d0c-3b8f6f0e2a41`,
    policy: 'eyJleHBpcmF0aW9uIjoiMjAyNi0xMS0yMVQxMDozMDowMFoifQ==',
    'x-amz-signature': signature,
  },
  maxBytes: 10_485_760,
  expiresAt: '2026-11-21T10:30:00.000Z',
};

const health: HealthAnswer = {
  status: 'ok',
  api: 'up',
  inference: 'up',
  model: 'ready',
  modelReadyInSeconds: null,
};

/** By the name of the answer's schema. */
export const answerExamples: Partial<Record<SchemaName, unknown>> = {
  Generation: generation,
  AcceptedGeneration: accepted,
  DryRun: dryRun,
  StoredGeneration: stored,
  StoredGenerationList: generations,
  DeletedGeneration: deleted,
  IdentityList: identities,
  IdentityDetail: identityDetail,
  LicenseList: licenses,
  Usage: usage,
  ActivityList: activity,
  RefusalList: refusals,
  RefusedRequestList: refused,
  CreatedKey: createdKey,
  Key: key,
  KeyList: keys,
  KeyAllowance: allowance,
  Account: { creditMails: true },
  RevokedKey: revokedKey,
  Upload: upload,
  Health: health,
};

// Bodies of requests.
export const generationBody = { identityId: identity.id, prompt };
export const productBody = {
  identityId: 'idn_7mRk3BzTa5Wc9fXo2LqV',
  prompt: 'on a marble table, morning light',
  referenceImages: [{ url: 'https://shop.example.com/bottle.png' }],
  referenceMode: 'exact_product',
  preserveBranding: true,
};
export const keyBody = { licenseId, name: 'my app' };
export const keyChangeBody = { monthlyCredits: 500 };
export const uploadBody = { contentType: 'image/png' };

export const events = [
  `event: accepted\ndata: {"requestId":"${requestId}","creditsReserved":1}`,
  'event: queued\ndata: {"position":2,"etaSeconds":9}',
  'event: started\ndata: {}',
  'event: progress\ndata: {"step":15,"steps":30}',
  `event: completed\ndata: ${JSON.stringify(generation)}`,
  '',
].join('\n\n');

export const ids = { requestId, licenseId, keyId, identityId: identity.id };

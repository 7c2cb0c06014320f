import { newGeneration } from '../../shared/domain/generation.ts';
import { newId, newRequestId } from '../../shared/domain/ids.ts';
import { generationStore } from '../../shared/store/generation-store.ts';
import { identityStore } from '../../shared/store/identity-store.ts';
import { licenseStore } from '../../shared/store/license-store.ts';
import { onceIdOf } from '../../shared/store/once-store.ts';
import type { Table } from '../../shared/store/table.ts';
import { newLicense } from './grants.ts';

/** An identity with weights of its own in the bucket. @returns its id. */
export async function addAdaptedIdentity(table: Table): Promise<string> {
  const identityId = newId('identity');
  await identityStore(table).put({
    identityId,
    name: 'adapted',
    slug: 'adapted',
    description: '',
    catalog: 'founding',
    productPhotos: false,
    model: {
      version: '1',
      adapterKey: 'adapters/a.safetensors',
      adapterSha256: null,
      settings: { style: 'aurora' },
    },
  });
  return identityId;
}

/** A request whose handler died ten minutes ago, with an idempotency key. */
export async function abandonGeneration(table: Table, identityId: string): Promise<void> {
  const license = newLicense({ creditsLimit: 10 });
  await licenseStore(table).insert(license);
  const nowMs = Date.now() - 600_000;
  const generation = newGeneration({
    requestId: newRequestId(nowMs),
    licenseId: license.licenseId,
    keyId: 'key_test',
    identity: (await identityStore(table).get(identityId))!,
    body: {
      identityId,
      prompt: 'x',
      negativePrompt: '',
      numInferenceSteps: 20,
      guidanceScale: 7,
      numOutputs: 1,
      width: 512,
      height: 512,
      referenceImages: [],
      referenceMode: 'reference',
      preserveBranding: false,
      outputFormat: 'png',
    },
    periodStartMs: nowMs,
    nowMs,
    deadlineSeconds: 60,
    retentionDays: 1,
    onceId: onceIdOf('abandoned'),
  });
  await generationStore(table).reserve(generation, license.creditsLimit, { bodyHash: 'hash' });
}

/** Two events of one subscription, as the queue brings them. */
export function billingEvents(subscriptionId: string): object {
  return {
    Records: [
      subscriptionRecord(subscriptionId, 'created', 0),
      subscriptionRecord(subscriptionId, 'updated', 5),
    ],
  };
}

function subscriptionRecord(subscriptionId: string, what: 'created' | 'updated', second: number): object {
  const createdAt = Math.floor(Date.now() / 1000) - 100;
  const item = {
    id: 'si_1',
    object: 'subscription_item',
    quantity: 1,
    price: { id: 'price_pro', object: 'price' },
    current_period_start: createdAt,
    current_period_end: createdAt + 2_592_000,
  };
  const object = {
    id: subscriptionId,
    object: 'subscription',
    status: 'active',
    created: createdAt,
    billing_cycle_anchor: createdAt,
    cancel_at: null,
    canceled_at: null,
    ended_at: null,
    metadata: { ownerId: 'owner-1' },
    items: { object: 'list', data: [item], has_more: false },
  };
  const type = `customer.subscription.${what}`;
  const detail = {
    id: `evt_${what}`,
    object: 'event',
    type,
    created: createdAt + second,
    livemode: true,
    data: { object },
  };
  const body = JSON.stringify({
    version: '0',
    id: `e-${what}`,
    'detail-type': type,
    source: 'aws.partner/stripe.com/ed_test',
    detail,
  });
  return { messageId: `m-${what}`, body };
}

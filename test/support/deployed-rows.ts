import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { billingPeriod } from '../../shared/licenses/billing-period.ts';
import type { Generation } from '../../shared/generations/generation.ts';
import { newId } from '../../shared/base/ids.ts';
import { identityStore } from '../../shared/identities/store.ts';
import { plainVersion } from '../../shared/identities/version.ts';
import { countInPeriod } from '../../shared/generations/in-flight.ts';
import { quarterOf } from '../../shared/images/previews.ts';
import { linkCredentialsStore } from '../../shared/images/link-credentials-store.ts';
import { licenseStore } from '../../shared/licenses/store.ts';
import { periodStore } from '../../shared/licenses/period-store.ts';
import { itemKeys } from '../../shared/table/keys.ts';
import type { Table } from '../../shared/table/table.ts';
import { envelope, sqsRecord } from '../unit/billing/delivery.ts';
import { packOf, start, stripeEvent, subscription } from '../unit/billing/stripe-fixtures.ts';
import { newLicense } from './grants.ts';
import { reserveAbandoned } from './period-totals.ts';

/** Adds an identity with an adapter and a sample in the bucket. @returns its id. */
export async function addAdaptedIdentity(table: Table): Promise<string> {
  const identityId = newId('identity');
  await identityStore(table).put({
    identityId,
    name: 'adapted',
    slug: 'adapted',
    description: '',
    catalog: 'founding',
    productPhotos: true,
    samples: [{ sampleId: '0f'.repeat(16), widthPx: 512, heightPx: 512, prompt: null }],
    model: {
      ...plainVersion,
      adapterKey: 'adapters/a.safetensors',
      settings: { style: 'aurora' },
    },
    lastVersion: 1,
    formerSlugs: [],
    withdrawn: null,
  });
  return identityId;
}

/** Stores a request with an idempotency key whose function died ten minutes ago, and whose period is over. */
export async function abandonGeneration(table: Table, identityId: string): Promise<Generation> {
  const license = newLicense();
  await licenseStore(table).insert(license);
  const acceptedAtMs = Date.now() - 600_000;
  const options = { identityId, acceptedAtMs, idempotencyKey: 'abandoned', referenceImages: 1 };
  const generation = await reserveAbandoned(table, license, options);
  const { endMs } = billingPeriod(license.periodAnchorMs, Date.now());
  await countInPeriod(table, license.licenseId, endMs);
  return generation;
}

/** A notification for an owner whom the user pool does not know: it is looked at and removed. */
export async function leaveNotification(table: Table): Promise<void> {
  const license = newLicense({ creditsLimit: 1 });
  const { licenseId } = license;
  await licenseStore(table).insert(license);
  const periodStartMs = billingPeriod(license.periodAnchorMs, Date.now()).startMs;
  await periodStore(table).importUsage(licenseId, periodStartMs, 1);
  const notification = { licenseId, periodStartMs, percent: 100 } as const;
  const Item = { ...itemKeys.notification(notification), ...notification };
  await table.documents.send(new PutCommand({ TableName: table.name, Item }));
}

/**
 * Stores what signs links to previews in this hour, as the first function to sign one does. So all functions do the same in
 * each quarter of an hour, and none asks AWS's token service.
 */
export async function storeLinkCredentials(
  table: Table,
  { accessKeyId, secretAccessKey }: { accessKeyId: string; secretAccessKey: string },
): Promise<void> {
  const credentials = { accessKeyId, secretAccessKey, sessionToken: 'token' };
  const stored = linkCredentialsStore(table);
  for (let i = 0; i < 4; i++) await stored.insert(quarterOf(Date.now()) + i * 900_000, credentials);
}

/** Two events of one subscription, and of a pack for its license that is bought and refunded, in the form of the queue's. */
export function billingEvents(subscriptionId: string): object {
  const types = ['customer.subscription.created', 'customer.subscription.updated'] as const;
  const { bought, refunded } = packOf(`lic_${subscriptionId}`, 'pack');
  const events = [
    ...types.map((type, i) =>
      stripeEvent(type, subscription({ id: subscriptionId }), { created: start + i }),
    ),
    bought(),
    refunded(1300),
  ];
  return { Records: events.map((event, i) => sqsRecord(`m-${i}`, envelope(event))) };
}

import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { startDynamoDb } from '../../../local/dynamodb/engine.ts';
import { pointSdkAt } from '../../../local/environment.ts';
import type { BillingPrices } from '../../../shared/contracts/billing-prices.ts';
import { licenseStore } from '../../../shared/store/license-store.ts';
import { subscriptionStore } from '../../../shared/store/subscription-store.ts';
import { tableSchema } from '../../../shared/store/table-keys.ts';
import { patientTable } from '../../support/patient-table.ts';
import { applyBillingEvidence } from '../../../shared/workflow/apply-billing-event.ts';
import { evidenceOf } from '../../unit/billing/delivery.ts';
import type { HandledEvent } from '../../unit/billing/stripe-fixtures.ts';

export const prices: BillingPrices = {
  price_starter: { tier: 'starter' },
  price_pro: { tier: 'pro', foundingCatalog: true },
  price_identity: { identityIds: ['idn_one'] },
};

export type World = Awaited<ReturnType<typeof startWorld>>;

/** The real DynamoDB engine, spoken to by the real SDK. */
export async function startWorld() {
  const dynamoDb = await startDynamoDb({ folder: null });
  pointSdkAt({
    region: 'us-east-1',
    accessKeyId: 'AKIDTEST',
    secretAccessKey: 'secret',
    dynamoDbUrl: dynamoDb.url,
    s3Url: 'http://127.0.0.1:1',
  });
  const table = patientTable('billing');
  await table.documents.send(
    new CreateTableCommand({ TableName: table.name, ...structuredClone(tableSchema) } as never),
  );
  const subscriptions = subscriptionStore(table);
  return {
    table,
    licenses: licenseStore(table),
    subscriptions,
    /** Applies an event as it comes out of the queue. */
    apply(event: HandledEvent, by: BillingPrices = prices) {
      return applyBillingEvidence(evidenceOf(event)!, { subscriptions, prices: by });
    },
    async close() {
      table.client.destroy();
      await dynamoDb.close();
    },
  };
}

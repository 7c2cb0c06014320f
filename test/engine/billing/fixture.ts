import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { handler } from '../../../functions/billing-events.ts';
import type { BillingPrices } from '../../../shared/billing/prices.ts';
import { environmentVariables } from '../../../shared/base/config.ts';
import { setLogSink } from '../../../shared/base/log.ts';
import { licenseStore } from '../../../shared/licenses/store.ts';
import { subscriptionStore } from '../../../shared/billing/subscription-store.ts';
import { applyBillingEvidence } from '../../../shared/billing/apply-event.ts';
import { removeFolder, temporaryFolder } from '../../support/service.ts';
import { evidenceOf, sqsRecord } from '../../unit/billing/delivery.ts';
import type { HandledEvent } from '../../unit/billing/stripe-fixtures.ts';
import { startTable } from '../generations/table.ts';
import type { Keep } from '../../support/fixture.ts';
import { useFixture } from '../../support/use-fixture.ts';

export const prices: BillingPrices = {
  price_starter: { tier: 'starter' },
  price_pro: { tier: 'pro', foundingCatalog: true, name: 'Studio' },
  price_identity: { identityIds: ['idn_one'], name: 'Atelier' },
};

/** The table of a real DynamoDB engine, and what billing does with it. */
export function useBilling() {
  const billing = useFixture(openBilling);
  beforeEach(() => billing.mend());
  return billing;
}

async function openBilling(keep: Keep) {
  const table = keep(await startTable());
  const subscriptions = subscriptionStore(table.table);
  const rules = { prices, pastDueGraceDays: 7 };
  return {
    ...table,
    licenses: licenseStore(table.table),
    subscriptions,
    /** Applies an event as it comes out of the queue. */
    apply: (event: HandledEvent) => applyBillingEvidence(evidenceOf(event)!, { subscriptions, rules }),
  };
}

/** The billing function, with a file of prices yet to be written. */
export function useFunction(tableName: () => string) {
  const folder = temporaryFolder();
  const pricesFile = join(folder, 'prices.json');
  const lines: string[] = [];
  beforeAll(() => {
    Object.assign(process.env, {
      [environmentVariables.serviceName]: 'billing-test',
      [environmentVariables.tableName]: tableName(),
      [environmentVariables.billingPricesFile]: pricesFile,
      [environmentVariables.billingLivemode]: 'false',
      [environmentVariables.pastDueGraceDays]: '7',
      [environmentVariables.extraCreditsMonths]: '12',
    });
    setLogSink((line) => void lines.push(line));
  });
  beforeEach(() => void lines.splice(0));
  afterAll(() => {
    setLogSink(console.log);
    removeFolder(folder);
  });
  return {
    pricesFile,
    /** What a test has it log. */
    lines,
    /** Sends a batch of messages. @returns the places of those that failed, and all that was logged */
    async send(...bodies: string[]) {
      const { batchItemFailures } = await handler({
        Records: bodies.map((body, i) => sqsRecord(`${i}`, body)),
      });
      const failed = batchItemFailures.map(({ itemIdentifier }) => Number(itemIdentifier));
      return { failed, logged: lines.map((line) => JSON.parse(line)) };
    },
  };
}

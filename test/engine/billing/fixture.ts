import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import type { BillingPrices } from '../../../shared/billing/prices.ts';
import { environmentVariables } from '../../../shared/base/config.ts';
import { setLogSink } from '../../../shared/base/log.ts';
import { licenseStore } from '../../../shared/licenses/store.ts';
import { subscriptionStore } from '../../../shared/billing/subscription-store.ts';
import { applyBillingEvidence } from '../../../shared/billing/apply-event.ts';
import { removeFolder, temporaryFolder } from '../../support/service.ts';
import { evidenceOf } from '../../unit/billing/delivery.ts';
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
  return {
    ...table,
    licenses: licenseStore(table.table),
    subscriptions,
    /** Applies an event as it comes out of the queue. */
    apply: (event: HandledEvent, by = prices) =>
      applyBillingEvidence(evidenceOf(event)!, {
        subscriptions,
        rules: { prices: by, pastDueGraceDays: 7 },
      }),
  };
}

/** The environment of the billing function, with a file of prices yet to be written, and what each test has it log. */
export function useFunction(tableName: () => string): { pricesFile: string; lines: string[] } {
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
    });
    setLogSink((line) => void lines.push(line));
  });
  beforeEach(() => void lines.splice(0));
  afterAll(() => {
    setLogSink(console.log);
    removeFolder(folder);
  });
  return { pricesFile, lines };
}

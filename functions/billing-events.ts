import { readFileSync } from 'node:fs';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { secretReader } from '../shared/base/secret-reader.ts';
import { stripeLists } from '../shared/billing/stripe-lists.ts';
import { applyPackEvidence, readPackEvent } from '../shared/billing/pack.ts';
import { BillingFailure } from '../shared/billing/evidence.ts';
import { parseRawEvent } from '../shared/billing/event.ts';
import { parseBillingPrices, type BillingPrices } from '../shared/billing/prices.ts';
import { licenseIdOf } from '../shared/billing/subscription-license.ts';
import { readWholeEvent, type FetchList } from '../shared/billing/whole-event.ts';
import { loggableError } from '../shared/base/log.ts';
import { embeddedMetrics, recordingMeter } from '../shared/base/meter.ts';
import { lazy } from '../shared/base/lazy.ts';
import { openRuntime } from '../shared/http/runtime.ts';
import { subscriptionStore } from '../shared/billing/subscription-store.ts';
import { applyBillingEvidence } from '../shared/billing/apply-event.ts';

const runtime = lazy(openRuntime);
const rules = lazy(() => {
  const { billingPricesFile, billingLivemode: livemode, pastDueGraceDays } = runtime().env;
  return { prices: readPrices(billingPricesFile), livemode, pastDueGraceDays };
});

/** Null without a key. The secret is asked for only when a list must be fetched, so a key that was changed is used at once. */
const fetchList = lazy((): FetchList | null => {
  const { env, table } = runtime();
  const { stripeKeySecretArn: arn, secretsManagerUrl, stripeUrl } = env;
  if (arn === null) return null;
  const readSecret = secretReader(table().client.config, secretsManagerUrl);
  return stripeLists(stripeUrl, () => readSecret(arn));
});

/** What is logged of a record. */
interface LogFields {
  messageId: string;
  eventId?: string;
  eventType?: string;
  subscriptionId?: string;
  licenseId?: string;
  /** Of what may have bought a pack of credits. */
  paymentId?: string;
}

/** `other_mode`: of Stripe's sandbox where its real events count, or the other way round. */
type Outcome = 'applied' | 'unchanged' | 'ignored' | 'other_mode' | 'failed';

/**
 * Applies Stripe's events. EventBridge and a queue bring them at least once, in any order. An event that fails goes back
 * to the queue alone, and after several tries to the dead-letter queue. Without readable prices the whole batch fails.
 */
export async function handler({ Records }: Pick<SQSEvent, 'Records'>): Promise<SQSBatchResponse> {
  const { log, env } = runtime();
  rules();
  const batchItemFailures: SQSBatchResponse['batchItemFailures'] = [];
  for (const record of Records) {
    const logFields: LogFields = { messageId: record.messageId };
    const result = await apply(record, logFields).then((outcome) => ({ outcome }), failureOf);
    const line = { ...logFields, ...result, ...countOf(result.outcome, env.serviceName) };
    if (result.outcome === 'failed') {
      batchItemFailures.push({ itemIdentifier: record.messageId });
      log.error('billing event', line);
    } else log.info('billing event', line);
  }
  return { batchItemFailures };
}

/** Adds to `logFields` what becomes known on the way. */
async function apply(record: SQSRecord, logFields: LogFields): Promise<Exclude<Outcome, 'failed'>> {
  const raw = parseRawEvent(record.body);
  logFields.eventId = raw.id;
  logFields.eventType = raw.type;
  if (raw.livemode !== rules().livemode) return 'other_mode';
  const pack = readPackEvent(raw);
  if (pack !== null) {
    logFields.paymentId = pack.paymentId;
    const { env, table, clock } = runtime();
    const deps = { table: table(), packs: env.billingPacks, months: env.extraCreditsMonths };
    return applyPackEvidence(pack, deps, clock.now());
  }
  const evidence = await readWholeEvent(raw, fetchList());
  if (evidence === null) return 'ignored';
  logFields.subscriptionId = evidence.subscriptionId;
  logFields.licenseId = licenseIdOf(evidence.subscriptionId);
  return applyBillingEvidence(evidence, {
    subscriptions: subscriptionStore(runtime().table()),
    rules: rules(),
  });
}

function failureOf(error: unknown) {
  const outcome = 'failed' as const;
  if (error instanceof BillingFailure) return { outcome, reason: error.reason, sentence: error.message };
  return { outcome, reason: 'fault', error: loggableError(error) };
}

function countOf(outcome: Outcome, serviceName: string): object {
  const meter = recordingMeter();
  meter.count('billingEvents', outcome);
  return { ...embeddedMetrics(meter, serviceName).extraRecords[0] };
}

/** @throws an error that names the file and what is wrong with it. */
function readPrices(path: string): BillingPrices {
  try {
    return parseBillingPrices(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    const why = error instanceof SyntaxError ? 'It is not JSON.' : (error as Error).message;
    throw new Error(`The file ${path} can't be used. ${why}`, { cause: error });
  }
}

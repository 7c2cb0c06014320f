import type { PlantedBug } from './plant.ts';

const transactions = 'generations/transactions.ts';
const generations = 'generations/store.ts';
const creation = 'generations/create.ts';
const decision = 'generations/decide.ts';

/** Bugs of reservations, charges, periods, keys and the model. */
export const generalBugs: readonly PlantedBug[] = [
  {
    name: 'release-into-current-period',
    what: 'credits come back to the month in which a request failed, not to the one that held them',
    file: transactions,
    changes: [
      [
        'import { toItem }',
        "import { billingPeriod } from '../domain/billing-period.ts';\nimport { toItem }",
      ],
      [
        '{ licenseId, periodStartMs }: Generation,',
        '{ licenseId, periodStartMs: startMs, status, completedAtMs }: Generation,',
      ],
      [
        '  const own = {',
        "  const periodStartMs = status === 'COMPLETED' ? startMs : billingPeriod(startMs, completedAtMs!).startMs;\n  const own = {",
      ],
    ],
  },
  {
    name: 'settle-in-any-state',
    what: 'a late answer charges for what was given back',
    file: transactions,
    changes: [["ended, ['PROCESSING'], {", "ended, ['PROCESSING', 'FAILED', 'TIMEOUT'], {"]],
  },
  {
    name: 'refund-twice',
    what: 'two hands that end a request both give its credits back',
    file: transactions,
    changes: [["['QUEUED', 'PROCESSING'], {", "['QUEUED', 'PROCESSING', 'FAILED', 'TIMEOUT'], {"]],
  },
  {
    name: 'refund-what-was-charged',
    what: 'a sweep that comes late takes back the charge of a finished request',
    file: transactions,
    changes: [["['QUEUED', 'PROCESSING'], {", "['QUEUED', 'PROCESSING', 'COMPLETED'], {"]],
    also: {
      file: 'generations/sweep.ts',
      changes: [
        [
          'if (isFinal(generation.status)) {',
          "if (isFinal(generation.status) && generation.status !== 'COMPLETED') {",
        ],
      ],
    },
  },
  {
    name: 'charge-before-settle',
    what: 'the charge is a write of its own, before the record says COMPLETED',
    file: generations,
    changes: [
      [
        'return finish(ended, (inFlightInMs, _, period) => settleItems(table.name, ended, inFlightInMs, period));',
        'return transact(table, [settleItems(table.name, ended, ended.periodStartMs)[1]!]).then(() => finish(ended, () => [settleItems(table.name, ended, ended.periodStartMs)[0]!]));',
      ],
    ],
  },
  {
    name: 'reserve-without-key-condition',
    what: 'two requests at once with one idempotency key are both charged',
    file: transactions,
    changes: [
      [
        "ConditionExpression: 'attribute_not_exists(PK) OR expiresAtMs <= :now'",
        "ConditionExpression: 'attribute_not_exists(PK) OR expiresAtMs <> :now'",
      ],
    ],
  },
  {
    name: 'key-never-released',
    what: 'after a failure an idempotency key answers "in progress" for a day',
    file: transactions,
    changes: [
      [
        'if (withIdempotencyRecord && ended.idempotencyKeyHash !== null) {',
        'if (withIdempotencyRecord && ended.idempotencyKeyHash === undefined) {',
      ],
    ],
  },
  {
    name: 'key-ends-by-ttl',
    what: "an idempotency key lasts until DynamoDB's TTL removes it, which may be days later",
    file: transactions,
    changes: [
      ["'attribute_not_exists(PK) OR expiresAtMs <= :now'", "'attribute_not_exists(PK)'"],
      ["ExpressionAttributeValues: { ':now': createdAtMs },\n      ReturnValues", 'ReturnValues'],
    ],
  },
  {
    name: 'lease-until-ttl',
    what: 'credits of a dead request come back when its record expires',
    file: 'generations/generation.ts',
    changes: [
      [
        'leaseUntilMs: deadlineMs + leaseMarginSeconds * 1000',
        'leaseUntilMs: nowMs + order.retentionDays * 24 * 3600 * 1000',
      ],
    ],
  },
  {
    name: 'limit-without-what-is-held',
    what: 'requests at once use more credits than there are',
    file: transactions,
    changes: [['committed <= :room AND', '(attribute_not_exists(used) OR used <= :room) AND']],
  },
  {
    name: 'one-more-in-flight',
    what: 'a license has one request more in flight than it may',
    file: transactions,
    changes: [['inFlight < :most', 'inFlight <= :most']],
  },
  {
    name: 'in-flight-forgotten',
    what: 'with a new month all that is in flight is forgotten, and as much again may begin',
    file: 'generations/in-flight.ts',
    changes: [["{ ':inFlight': inFlight, ':none': 0 }", "{ ':inFlight': 0 * inFlight, ':none': 0 }"]],
  },
  {
    name: 'in-flight-for-ever',
    what: 'a request that ends after its month counts as in flight for ever',
    file: transactions,
    changes: [['return [{ Update }, { Update: counting }];', 'void counting;\n  return [{ Update }];']],
  },
  {
    name: 'conflict-is-credit-limit',
    what: 'a busy table is told as a credit limit',
    file: generations,
    changes: [
      [
        'throw error instanceof ServiceError ? error : serviceBusy(error);',
        "return { outcome: 'over_limit' };",
      ],
    ],
  },
  {
    name: 'answer-before-settle',
    what: '200 is answered before the charge is stored',
    file: 'generations/settle.ts',
    changes: [
      [
        'const ended = await generations.settle(generation, completion);',
        "void generations.settle(generation, completion).catch(() => {});\n  const ended = { ...generation, ...completion, status: 'COMPLETED' as const };",
      ],
    ],
  },
  {
    name: 'settle-before-start',
    what: 'a model that is faster than the table is taken for a failure',
    file: 'generations/run-model.ts',
    changes: [
      [
        "else if (event.event === 'completed') {\n        await start();",
        "else if (event.event === 'completed') {\n        void start();",
      ],
    ],
  },
  {
    name: 'images-not-looked-at',
    what: 'a request is charged for images that were never stored',
    file: 'generations/run-model.ts',
    changes: [
      ['if (!outputs.every(({ bytes }, i) => bytes === sizes[i])) throw undelivered();', 'void sizes;'],
    ],
  },
  {
    name: 'model-called-again',
    what: 'a call that broke off paints, and costs, a second time',
    file: 'model/client.ts',
    changes: [['maxAttempts: 1,', 'maxAttempts: 3,']],
  },
  {
    name: 'lost-answer-is-no',
    what: 'a reservation that was stored, and whose answer was lost, is refused and stays held',
    file: generations,
    changes: [["if (isDeepStrictEqual(stored, generation)) return { outcome: 'reserved' };", '']],
  },
  {
    name: 'lost-answer-is-yes',
    what: 'a reservation that was never stored is painted',
    file: generations,
    changes: [
      [
        "if (isDeepStrictEqual(stored, generation)) return { outcome: 'reserved' };",
        "return { outcome: 'reserved' };",
      ],
    ],
  },
  {
    name: 'sweep-too-early',
    what: 'the sweep ends requests that still run',
    file: 'generations/sweep.ts',
    changes: [
      ['leasesBeforeMs: number = deps.clock.now(),', 'leasesBeforeMs: number = deps.clock.now() + 60_000,'],
    ],
  },
  {
    name: 'sweep-one-shard',
    what: 'most dead requests are never found',
    file: 'generations/sweep.ts',
    changes: [['leaseIndex.shards.map((shard)', 'leaseIndex.shards.slice(0, 1).map((shard)']],
  },
  {
    name: 'record-stays-in-index',
    what: 'the sweep reads everything that ever ended',
    file: transactions,
    changes: [
      [' REMOVE ${leaseIndex.partition}, ${leaseIndex.sort}`', '`'],
      ['import { itemKeys, leaseIndex, ttlAttribute, ', 'import { itemKeys, ttlAttribute, '],
    ],
  },
  {
    name: 'month-of-another-day',
    what: 'usage is booked in a month that is not over or not begun',
    file: decision,
    changes: [
      [
        'const period = creditPeriod(license, nowMs);',
        'const period = creditPeriod(license, nowMs + 5 * 60_000);',
      ],
    ],
  },
  {
    name: 'anchor-opens-a-count',
    what: 'a moved anchor that nobody paid for brings a month of new credits',
    file: 'licenses/credit-period.ts',
    changes: [['if (carried !== null && nowMs < carried.endMs) return carried;', '']],
  },
  {
    name: 'weak-read-of-keys',
    what: 'a weak read: a revoked key goes on, or what was just stored is not found',
    file: 'table/table.ts',
    changes: [['Keys: pending, ConsistentRead: true', 'Keys: pending']],
  },
  {
    name: 'rate-log-without-version',
    what: 'requests at once pass the rate limit together',
    file: 'limits/rate-log-store.ts',
    changes: [
      ["'version = :read'", "'version >= :zero'"],
      ["{ ':read': readVersion }", "{ ':zero': 0 }"],
      ["'attribute_not_exists(PK)'", "'attribute_not_exists(nothing)'"],
    ],
  },
  {
    name: 'statistics-once-too-few',
    what: "the dashboard's figures do not add up to the bill",
    file: 'licenses/period-store.ts',
    changes: [['`${tallyKinds.byType}#${of.type}`,', '']],
  },
  {
    name: 'import-counts-twice',
    what: 'usage from elsewhere is counted again when the answer to its import is lost',
    file: 'licenses/period-store.ts',
    changes: [
      [
        'import { generationTypes,',
        "import { UpdateCommand } from '@aws-sdk/lib-dynamodb';\nimport { generationTypes,",
      ],
      [
        'await transact(table, [\n        {\n          Update: {',
        'void transact;\n      await table.documents.send(\n        new UpdateCommand({',
      ],
      [
        "ExpressionAttributeValues: { ':c': credits },\n          },\n        },\n      ]);",
        "ExpressionAttributeValues: { ':c': credits },\n          }));",
      ],
    ],
  },
  {
    name: 'charge-told-as-refusal',
    what: 'whoever was charged, and whose figures could not be read, is told to send the request again',
    file: creation,
    changes: [
      ["throw new ServiceError('GENERATION_FAILED', sentence, { cause, requestId });", 'throw cause;'],
    ],
  },
  {
    name: 'away-is-our-fault',
    what: 'a table that is away is told as an internal error, which nobody tries again',
    file: 'http/backend-failure.ts',
    changes: [['if (isBackendFailure(error)) return serviceBusy(error);', '']],
  },
];

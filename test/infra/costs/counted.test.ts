import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { factorsOf, logBytes } from '../../../bin/costs/model.ts';
import { defaultWorkload, usualImageBytes } from '../../../bin/costs/workload.ts';
import { db } from '../../../local/dynamodb/dynalite.ts';
import { readConfiguration } from '../../../lib/configuration.ts';
import { billingPeriod } from '../../../shared/licenses/billing-period.ts';
import { committedName, tallyNames } from '../../../shared/licenses/period-store.ts';
import { itemKeys } from '../../../shared/table/keys.ts';
import { reserveAbandoned } from '../../support/period-totals.ts';
import { getItem } from '../../../shared/table/table.ts';
import { identity, license, startCountingFixture, type Counted, type CountingFixture } from './counting.ts';

const imageBytes = usualImageBytes(1);
const factors = factorsOf(readConfiguration({}, 'A test'), { ...defaultWorkload, imageBytes });

let fixture: CountingFixture;
let usual: Counted;

/** 100 characters. */
const prompt = 'a calm night over the mountains, '.repeat(4).slice(0, 100);
const body = { identityId: identity.identityId, prompt, width: 1024, height: 1024 };

beforeAll(async () => {
  fixture = await startCountingFixture();
  // The first generation creates the caller's rate limit log and the period's item.
  await fixture.generate(body);
  usual = await generate(body);
});

afterAll(() => fixture.close());

/** Each reads the identity, so that no figure is too low for a function that is used rarely. */
function generate(order: object, headers?: Record<string, string>): Promise<Counted> {
  fixture.forgetCatalog();
  return fixture.generate(order, headers);
}

const unitsOf = ({ readUnits, tableWriteUnits, indexWriteUnits }: Counted) => ({
  readUnits,
  writeUnits: tableWriteUnits + indexWriteUnits,
});

/** How much more a run used than the usual one. */
function more(run: Counted) {
  const [of, than] = [unitsOf(run), unitsOf(usual)];
  return { readUnits: of.readUnits - than.readUnits, writeUnits: of.writeUnits - than.writeUnits };
}

describe('a generation uses as much as bin/costs/model.ts says', () => {
  test('of the table: reads and writes, two of them for the lease index', () => {
    expect(unitsOf(usual)).toEqual({ readUnits: factors['read units'], writeUnits: factors['write units'] });
    expect(usual.indexWriteUnits).toBe(2);
  });

  test('of the table, as many writes where nobody waits for it, and one read unit more', async () => {
    const run = await generate(body, { prefer: 'respond-async' });
    expect(run.answer).toMatchObject({ status: 'QUEUED' });
    expect(more(run)).toEqual({ readUnits: 1, writeUnits: 0 });
    expect(run.logLines).toHaveLength(2);
  });

  test('more with an idempotency key, and with a prompt of 1,000 characters', async () => {
    const withKey = await generate(body, { 'idempotency-key': 'a1' });
    expect(more(withKey)).toEqual({ readUnits: 1, writeUnits: 2 });
    const withPrompt = await generate({ ...body, prompt: prompt.repeat(10) });
    expect(more(withPrompt)).toEqual({ readUnits: 0, writeUnits: 5 });
  });

  test("more with OpenAI's SDKs, which count their tries: 2 write units for the first, and 1 in all for the next", async () => {
    const order = { model: identity.identityId, prompt, size: '1024x1024', response_format: 'url' };
    const send = (count: string) => {
      fixture.forgetCatalog();
      return fixture.generateAsOpenAi(order, { 'x-stainless-retry-count': count });
    };
    expect(more(await send('0'))).toEqual({ readUnits: 0, writeUnits: 2 });
    // And 1 of the rate log.
    expect(unitsOf(await send('1'))).toEqual({ readUnits: 7, writeUnits: 2 });
  });

  test('of S3: for each image and its preview one PUT by the model and one HEAD by the function', async () => {
    const perImage = {
      PUT: factors['PUTs, image and preview'],
      HEAD: factors['HEADs and views'] - factors.views,
    };
    expect(withoutLooks(usual)).toEqual(perImage);
    const four = await generate({ ...body, numOutputs: 4 });
    expect(withoutLooks(four)).toEqual({ PUT: 4 * perImage.PUT, HEAD: 4 * perImage.HEAD });
    expect(unitsOf(four)).toEqual(unitsOf(usual));
  });

  test('of the log one line, of the internet an answer, of stored data a record, each of this size', async () => {
    expect(usual.logLines).toHaveLength(1);
    expect(within(usual.logLines[0]!.length, logBytes.request)).toBe(true);
    expect(within(usual.answerBytes, factors['bytes of an answer'])).toBe(true);
    const key = itemKeys.generation(license.licenseId, usual.answer.requestId);
    const size = db.itemSize(marshall(await getItem(fixture.table, key)) as never) + 100;
    expect(within(size, factors['bytes of a record'])).toBe(true);
  });

  test('of the table, exactly as much where its key has a budget and places of its own', async () => {
    await fixture.changeKey({ monthlyCredits: 1_000_000, access: 'own', maxInFlight: 2 });
    expect(unitsOf(await generate(body))).toEqual(unitsOf(usual));
    await fixture.changeKey({ monthlyCredits: null, access: 'license', maxInFlight: null });
  });

  test('and a cancellation writes six units, two more with an idempotency key or a prompt of another kilobyte, and no more for a key with limits', async () => {
    const writes = async (changes: { prompt?: string; idempotencyKey?: string } = {}) => {
      const options = { identityId: identity.identityId, keyId: fixture.keyId, ...changes };
      const run = await fixture.cancel((await reserveAbandoned(fixture.table, license, options)).requestId);
      expect(run.objectRequests).toEqual({ PUT: 1 });
      return unitsOf(run).writeUnits;
    };
    await writes();
    expect(await writes()).toBe(6);
    expect(await writes({ idempotencyKey: 'c1' })).toBe(8);
    expect(await writes({ prompt: prompt.repeat(10) })).toBe(8);
    await fixture.changeKey({ monthlyCredits: 1_000_000, access: 'own', maxInFlight: 2 });
    expect(await writes()).toBe(6);
  });

  // Each fills the period further, so their order counts.
  test.each([
    [1, 4],
    [5, 4],
    [25, 12],
  ])(
    'more on the last day of a period, when ten identities and %i keys were used: %i write units',
    async (keys, writeUnits) => {
      await fillPeriod(keys);
      expect(more(await generate(body))).toEqual({ readUnits: 0, writeUnits });
    },
  );
});

/** Once a second a model looks whether its request was cancelled, and it takes as long as the machine is busy. */
function withoutLooks({ objectRequests }: Counted) {
  return Object.fromEntries(Object.entries(objectRequests).filter(([method]) => method !== 'GET'));
}

test('a run of the sweep uses as much as bin/costs/model.ts says', async () => {
  const run = await fixture.sweep();
  expect(unitsOf(run)).toEqual({ readUnits: factors['read units of a run'], writeUnits: 0 });
  expect(within(run.logLines[0]!.length, logBytes.run)).toBe(true);
});

/** Whether they differ by at most five percent. */
function within(actual: number, expected: number): boolean {
  if (Math.abs(actual - expected) <= 0.05 * expected) return true;
  throw new Error(`${actual} was counted, not ${expected}: change bin/costs/model.ts.`);
}

/** Fills the period's item as if each day, each of ten identities and so many keys were used, the caller's among them. */
async function fillPeriod(keys: number): Promise<void> {
  const { startMs, endMs } = billingPeriod(license.periodAnchorMs, Date.now());
  const keyIds = [fixture.keyId, ...Array.from({ length: keys - 1 }, (_, i) => anyKeyId(i))];
  const names = new Set(keyIds.map(committedName));
  for (let atMs = startMs, i = 0; atMs < endMs; atMs += 86_400_000, i++) {
    const identityId = `idn_${String(i % 10).padStart(20, '0')}`;
    const keyId = keyIds[i % keys]!;
    for (const pair of tallyNames({ type: 'text_to_image', identityId, completedAtMs: atMs, keyId })) {
      for (const name of pair) names.add(name);
    }
  }
  const tallies = [...names];
  await fixture.table.documents.send(
    new UpdateCommand({
      TableName: fixture.table.name,
      Key: itemKeys.period(license.licenseId, startMs),
      UpdateExpression: `SET ${tallies.map((_, i) => `#t${i} = :n`).join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(tallies.map((name, i) => [`#t${i}`, name])),
      ExpressionAttributeValues: { ':n': 100 },
    }),
  );
}

function anyKeyId(number: number): string {
  return `key_${String(number).padStart(32, '0')}`;
}

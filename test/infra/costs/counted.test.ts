import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { accessLogBytes, counted } from '../../../bin/costs/counted.ts';
import { db } from '../../../local/dynamodb/dynalite.ts';
import { billingPeriod } from '../../../shared/domain/billing-period.ts';
import { tallyNames } from '../../../shared/store/period-store.ts';
import { itemKeys } from '../../../shared/store/table-keys.ts';
import { getItem } from '../../../shared/store/table.ts';
import { identity, license, startCountingWorld, type Counted, type CountingWorld } from './counting.ts';

let world: CountingWorld;
let usual: Counted;

/** 100 characters. */
const prompt = 'a calm night over the mountains, '.repeat(4).slice(0, 100);
const body = { identityId: identity.identityId, prompt, width: 1024, height: 1024 };

beforeAll(async () => {
  world = await startCountingWorld();
  // The first one makes the caller's rate log and the period's books.
  await world.generate(body);
  usual = await world.generate(body);
});

afterAll(() => world.close());

const unitsOf = ({ readUnits, tableWriteUnits, indexWriteUnits }: Counted) => ({
  readUnits,
  writeUnits: tableWriteUnits + indexWriteUnits,
});

/** What a run used more than the usual one. */
function more(run: Counted) {
  const [of, than] = [unitsOf(run), unitsOf(usual)];
  return { readUnits: of.readUnits - than.readUnits, writeUnits: of.writeUnits - than.writeUnits };
}

describe('a generation uses what the model of the bill says', () => {
  const { generation } = counted;

  test('of the table: its reads and writes, two of them for the index of leases', () => {
    const { readUnits, writeUnits } = generation;
    expect(unitsOf(usual)).toEqual({ readUnits, writeUnits });
    expect(usual.indexWriteUnits).toBe(2);
  });

  test('more with an idempotency key', async () => {
    expect(more(await world.generate(body, { 'idempotency-key': 'a1' }))).toEqual(
      counted.more.idempotencyKey,
    );
  });

  test('more with a prompt of 1,000 characters', async () => {
    const run = await world.generate({ ...body, prompt: prompt.repeat(10) });
    expect(more(run)).toEqual(counted.more.longPrompt);
  });

  test('of storage: one put by the model and one look by the function for each image', async () => {
    const perImage = { PUT: generation.objectWritesPerImage, HEAD: generation.objectHeadsPerImage };
    expect(usual.objectRequests).toEqual(perImage);
    const four = await world.generate({ ...body, numOutputs: 4 });
    expect(four.objectRequests).toEqual({ PUT: 4 * perImage.PUT, HEAD: 4 * perImage.HEAD });
    expect(unitsOf(four)).toEqual(unitsOf(usual));
  });

  test('of the log: one line of about this length', () => {
    expect(usual.logLines).toHaveLength(1);
    expect(within(usual.logLines[0]!.length, generation.logBytes)).toBe(true);
  });

  test('of the internet: an answer of about this length', () => {
    expect(within(usual.answerBytes, generation.answerBytes)).toBe(true);
  });

  test('of the table, for as long as it is kept: a record of about this size', async () => {
    const key = itemKeys.generation(license.licenseId, usual.answer.requestId);
    const item = await getItem(world.table, key);
    const size = db.itemSize(marshall(item) as never) + 100;
    expect(within(size, generation.itemBytes)).toBe(true);
  });

  test('more on the last day of a period, when ten identities were used', async () => {
    await fillPeriod();
    expect(more(await world.generate(body))).toEqual(counted.more.fullPeriod);
  });
});

test('a run of the sweep uses what the model of the bill says', async () => {
  const run = await world.sweep();
  expect(unitsOf(run)).toEqual({ readUnits: counted.sweep.readUnits, writeUnits: 0 });
  expect(within(run.logLines[0]!.length, counted.sweep.logBytes)).toBe(true);
});

test("a megapixel's picture by the local painter is as large as the model of the bill says", () => {
  const program = fileURLToPath(new URL('./picture-sizes.ts', import.meta.url));
  const sizes: number[] = JSON.parse(execFileSync(process.execPath, [program]).toString());
  const average = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
  expect(within(average, counted.pngBytesPerMegapixel)).toBe(true);
}, 300_000);

test('a field of the access log that nobody measured is not guessed at', () => {
  expect(accessLogBytes('{"status":"$context.status"}')).toBe('{"status":"200"}\n'.length);
  expect(() => accessLogBytes('{"x":"$context.somethingNew"}')).toThrow('somethingNew');
});

/** To five percent. */
function within(actual: number, told: number): boolean {
  if (Math.abs(actual - told) <= 0.05 * told) return true;
  throw new Error(`${actual} was counted and ${told} is told: change bin/costs/counted.ts.`);
}

/** The books as they are when each day and each of ten identities was used. */
async function fillPeriod(): Promise<void> {
  const { startMs, endMs } = billingPeriod(license.periodAnchorMs, Date.now());
  const names = new Set<string>();
  for (let atMs = startMs, i = 0; atMs < endMs; atMs += 86_400_000, i++) {
    const identityId = `idn_${String(i % 10).padStart(12, '0')}`;
    for (const pair of tallyNames({ type: 'text_to_image', identityId, completedAtMs: atMs })) {
      for (const name of pair) names.add(name);
    }
  }
  const tallies = [...names];
  await world.table.documents.send(
    new UpdateCommand({
      TableName: world.table.name,
      Key: itemKeys.period(license.licenseId, startMs),
      UpdateExpression: `ADD ${tallies.map((_, i) => `#t${i} :n`).join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(tallies.map((name, i) => [`#t${i}`, name])),
      ExpressionAttributeValues: { ':n': 100 },
    }),
  );
}

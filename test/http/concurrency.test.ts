import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { billingPeriod } from '../../shared/domain/billing-period.ts';
import { periodStore } from '../../shared/store/period-store.ts';
import type { Table } from '../../shared/store/table.ts';
import { grant, issueKey, tableOf } from '../support/grants.ts';
import { removeFolder, startService, type RunningService } from '../support/service.ts';

let service: RunningService;
let table: Table;

beforeAll(async () => {
  service = await startService();
  table = tableOf(service.dataDir);
});

afterAll(async () => {
  await service.end();
  removeFolder(service.dataDir);
});

const small = { prompt: 'x', width: 512, height: 512, numInferenceSteps: 20 };

test('50 parallel requests on 7 remaining credits: exactly 7 are made, 43 are refused', async () => {
  const granted = await grant(table, { creditsLimit: 500, used: 493 });
  // Five keys, so that the rate limit of ten a minute refuses nobody.
  const more = await Promise.all([1, 2, 3, 4].map(() => issueKey(table, granted.license)));
  const keys = [granted.key, ...more.map(({ key }) => key)];
  const body = { ...small, identityId: service.ready.identities.aurora };
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, i) => service.api({ path: '/generate', key: keys[i % 5], body })),
  );
  const made = answers.filter(({ status }) => status === 200);
  const refused = answers.filter(({ body: { code } }) => code === 'CREDIT_LIMIT_EXCEEDED');
  expect([made.length, refused.length]).toEqual([7, 43]);
  expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([429]));
  const used = made.map((answer) => answer.body.usage.creditsUsed);
  expect(Math.max(...used)).toBe(500);
  const { startMs } = billingPeriod(granted.license.periodAnchorMs, Date.now());
  const period = await periodStore(table).get(granted.license.licenseId, startMs);
  expect(period).toMatchObject({
    used: 500,
    committed: 500,
    byType: { text_to_image: { requests: 7, credits: 7 } },
  });
});

test('40 parallel requests on one fresh key: exactly 10 pass its rate limit', async () => {
  const { key } = await grant(table);
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => service.api({ path: '/generate', key, body: '{' })),
  );
  const codes = answers.map(({ body }) => body.code);
  expect(codes.filter((code) => code === 'INVALID_BODY')).toHaveLength(10);
  expect(codes.filter((code) => code === 'RATE_LIMITED')).toHaveLength(30);
});

test('in any rolling 60 seconds, 10 requests pass and not one more', async () => {
  const { key } = await grant(table);
  const call = () => service.api({ path: '/generate', key, body: '{' });
  const passed: number[] = [];
  const untilMs = Date.now() + 75_000;
  // A burst, then a knock every quarter second for more than a window.
  for (let knocks = 4; Date.now() < untilMs; knocks = 1) {
    const sentMs = Date.now();
    const answers = await Promise.all(Array.from({ length: knocks * 3 }, call));
    for (const { status } of answers) if (status === 400) passed.push(sentMs);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  const windows = passed.map(
    (startMs) => passed.filter((ms) => ms >= startMs && ms < startMs + 60_000).length,
  );
  expect(Math.max(...windows)).toBe(10);
  expect(passed.length).toBe(20);
}, 120_000);

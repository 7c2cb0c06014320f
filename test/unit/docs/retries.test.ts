import { expect, test } from '@jest/globals';
import { errorCodes, type ErrorCode } from '../../../shared/base/errors.ts';
import {
  firewallFailures,
  gatewayFailures,
  type GatewayFailure,
} from '../../../shared/routes/gateway-failures.ts';
import { openMs, warmingRetrySeconds } from '../../../shared/model/breaker-states.ts';
import { newKeyLimit } from '../../../shared/routes/limits.ts';
import { longestColdStartSeconds, shortestWaitSeconds } from '../../../shared/model/cold-start.ts';
import { idempotencyHours } from '../../../shared/generations/idempotency.ts';
import { routes } from '../../../shared/routes/routes.ts';
import { codeBlocks, readPage, tableBelow } from '../../support/documents.ts';

const page = 'docs/api/retries.md';
const [, ...rows] = tableBelow(page, 'Which codes');
const byCode = new Map(
  rows.map(([code, status, retryAfter, repeat, when, charged]) => [
    code,
    { status, retryAfter, repeat: repeat!, when: when!, charged },
  ]),
);
const codes = Object.keys(errorCodes) as ErrorCode[];
const codesWith = (repeat: string) => codes.filter((code) => byCode.get(code)!.repeat === repeat);

test('every code is there once, in the order of the table', () => {
  expect(rows.map(([code]) => code)).toEqual(codes);
});

test.each(codes)(
  '%s has its status, Retry-After where the service sends it, a repeat that can help, and its charge',
  (code) => {
    const row = byCode.get(code)!;
    const { status, retryAfterSeconds } = errorCodes[code];
    const wait = retryAfterSeconds === undefined ? '–' : 'yes';
    expect([row.status, row.retryAfter]).toEqual([String(status), wait]);
    const sensible = retryAfterSeconds === undefined ? (status >= 500 ? ['once'] : ['no']) : ['yes', 'later'];
    expect(sensible).toContain(row.repeat);
    if (row.repeat !== 'no') expect(row.when).toMatch(/\w/);
    // The outcome may be another than the answer.
    const mayHaveCompleted = row.repeat === 'once' || code === 'IDEMPOTENCY_IN_PROGRESS';
    expect(row.charged === 'no').toBe(!mayHaveCompleted);
  },
);

test('the waits that are named are those of the code', () => {
  const when = (code: ErrorCode) => byCode.get(code)!.when;
  const { windowSeconds } = routes.createGeneration.limit;
  const { retryAfterSeconds: ofAddress } = firewallFailures.tooManyFromOneAddress;
  expect(when('RATE_LIMITED')).toContain(
    `1 to ${windowSeconds} s, ${ofAddress} s for an address, up to ${newKeyLimit.windowSeconds} s for new keys`,
  );
  const longestSeconds = Math.max(warmingRetrySeconds, openMs.failing / 1000, openMs.warming / 1000);
  expect(when('SERVICE_UNAVAILABLE')).toContain(
    `1 to ${longestSeconds} s, or ${shortestWaitSeconds} to ${longestColdStartSeconds} s until`,
  );
  for (const code of ['IDENTITY_UNAVAILABLE', 'IDEMPOTENCY_IN_PROGRESS'] as const)
    expect(when(code)).toContain(`${errorCodes[code].retryAfterSeconds} s`);
  expect(errorCodes.SERVICE_UNAVAILABLE.retryAfterSeconds).toBeLessThanOrEqual(longestSeconds);
  const atGateway: GatewayFailure[] = Object.values(gatewayFailures);
  for (const { code, retryAfterSeconds = 1 } of atGateway) {
    if (code === 'RATE_LIMITED') expect(retryAfterSeconds).toBeLessThanOrEqual(windowSeconds);
  }
  expect(readPage(page)).toContain(`A repeat within ${idempotencyHours} hours`);
});

test('the sample repeats exactly the codes that the table says to repeat', () => {
  const sample = codeBlocks(page).find(({ language }) => language === 'js')!.text;
  const listed = (name: string) => {
    const list = new RegExp(`const ${name} = new Set\\((\\[[^\\]]*\\])\\)`).exec(sample)![1]!;
    return JSON.parse(list.replaceAll("'", '"'));
  };
  expect(listed('always').sort()).toEqual(codesWith('yes').sort());
  expect(listed('once').sort()).toEqual(codesWith('once').sort());
});

import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { License } from '../../shared/licenses/license.ts';
import { licenseStore } from '../../shared/licenses/store.ts';
import { newAccount, type Account } from '../support/accounts.ts';
import { periodTotals, expectCharged } from '../support/period-totals.ts';
import { newLicense } from '../support/grants.ts';
import { openImage } from '../support/png.ts';
import { small } from '../support/requests.ts';
import type { ApiAnswer } from '../support/service.ts';
import { sharedService } from '../support/use-service.ts';

const service = sharedService();
const { table } = service;
const { identities } = service.ready;

interface Player extends Account {
  /** In the playground. `licenseId` is the license's unless the body says otherwise. */
  play(body?: object | string, headers?: Record<string, string>, query?: string): Promise<ApiAnswer>;
}

async function owner(options: Parameters<typeof newAccount>[1] = {}): Promise<Player> {
  const account = await newAccount(service, options);
  const usual = { licenseId: account.license.licenseId, ...small, identityId: identities.aurora };
  return {
    ...account,
    play: (body = {}, headers = {}, query = '') =>
      account.bySession(`/playground/generate${query}`, {
        headers,
        body: typeof body === 'string' ? body : { ...usual, ...body },
      }),
  };
}

/** What both endpoints must answer alike; ids, links, times and random seeds are each request's own. */
function comparable({ status, headers, body }: ApiAnswer) {
  const { requestId, outputs, previews, processingTimeMs, seed, ...rest } = body;
  return {
    status,
    retryAfter: headers.get('retry-after') === null,
    policy: headers.get('ratelimit-policy')?.replace(/^"\w+"/, ''),
    left: headers.get('ratelimit')?.replace(/^"\w+"|;t=\d+$/g, ''),
    members: Object.keys(body),
    outputs: [outputs?.length, previews?.length],
    kinds: [requestId, processingTimeMs, seed].map((value) => typeof value),
    isSentSeed: seed === texts.seed,
    isOwnId: requestId === undefined || requestId === headers.get('x-request-id'),
    // A key is what the caller of the other endpoint holds; nothing else may differ.
    rest: JSON.parse(JSON.stringify(rest).replace(/This [A-Za-z ]+ may not/, 'This caller may not')),
  };
}

type Case = [
  what: string,
  status: number,
  body: () => object | string,
  changes?: Partial<License> & { used?: number },
];

const of =
  (slug: string, rest: object = {}) =>
  () => ({ ...small, identityId: identities[slug], ...rest });
const texts = { prompt: 'x', negativePrompt: 'n', seed: 7, numInferenceSteps: 25, guidanceScale: 3.5 };
const shape = { numOutputs: 2, width: 576, height: 512, referenceImages: [], referenceMode: 'reference' };
const everything = { ...texts, ...shape, outputFormat: 'png', preserveBranding: true };

/** One for each rule: both endpoints run the same workflow. */
const cases: Case[] = [
  ['everything that a body can say', 200, () => ({ ...everything, identityId: identities.aurora })],
  ['more than a mebibyte', 413, () => `{"prompt":"${'x'.repeat(1024 * 1024)}"}`],
  ['many wrong fields', 400, of('aurora', { prompt: '', seed: -1, width: 513, stpes: 1, numOutputs: 0 })],
  ['more than the month has left', 429, of('aurora', { numOutputs: 3 }), { creditsLimit: 10, used: 8 }],
  ['an identity without a model', 503, of('ember')],
  ['a model that fails', 500, of('flint', { numOutputs: 2 })],
];

describe('POST /playground/generate is POST /generate to the letter', () => {
  test.each(cases)('%s: %i', async (_, status, body, changes = {}) => {
    const twins = { ownerId: randomUUID(), periodAnchorMs: Date.now() - 3600_000, ...changes };
    const [one, two] = [await owner(twins), await owner(twins)];
    const sent = body();
    const [byKey, bySession] = await Promise.all([
      service.api({ method: 'POST', path: '/generate', key: one.key, body: sent }),
      two.play(typeof sent === 'string' ? sent : { identityId: undefined, prompt: undefined, ...sent }),
    ]);
    expect(byKey.status).toBe(status);
    expect(comparable(bySession)).toEqual(comparable(byKey));
    if (status === 200) await Promise.all(bySession.body.outputs.map(openImage));
    expect(await periodTotals(table, two.license)).toEqual(await periodTotals(table, one.license));
  });
});

test('of several failures, the first in the decided order is told', async () => {
  const own = await owner({ tier: 'starter', creditsLimit: 5, used: 5 });
  const ended = newLicense({ ownerId: own.license.ownerId, status: 'ended' });
  await licenseStore(table).insert(ended);
  const wrong = { identityId: undefined, prompt: '', numOutputs: 9, width: 4096 };
  const valid = { prompt: 'x', numOutputs: 9, identityId: identities.ember };
  const steps: [object | string, number, string][] = [
    ['{', 400, 'INVALID_BODY'],
    [{ ...wrong, licenseId: 5 }, 400, 'INVALID_PARAMETERS'],
    [{ ...wrong, licenseId: 'lic_unknown' }, 404, 'LICENSE_NOT_FOUND'],
    [{ ...wrong, licenseId: ended.licenseId }, 403, 'LICENSE_INACTIVE'],
    [wrong, 400, 'MISSING_IDENTITY'],
    [{ ...wrong, identityId: 'idn_unknown' }, 404, 'IDENTITY_NOT_FOUND'],
    [{ ...wrong, identityId: identities.drift }, 401, 'IDENTITY_MISMATCH'],
    [{ ...wrong, identityId: identities.ember }, 400, 'INVALID_PARAMETERS'],
    [valid, 400, 'TIER_LIMIT'],
    [{ ...valid, numOutputs: 1 }, 429, 'CREDIT_LIMIT_EXCEEDED'],
  ];
  for (const [body, status, code] of steps) {
    const { status: sent, body: answer } = await own.play(body);
    expect([sent, answer.code]).toEqual([status, code]);
  }
  await expectCharged(table, own.license, 5);
});

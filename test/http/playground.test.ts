import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { openImage } from '../support/png.ts';
import { grant } from '../support/grants.ts';
import { small } from '../support/requests.ts';
import type { ApiAnswer } from '../support/service.ts';
import { identities, newAccount, table } from './fixture.ts';

const { aurora, ember, flint } = identities;

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

const texts = { prompt: 'x', negativePrompt: 'n', seed: 7, numInferenceSteps: 25, guidanceScale: 3.5 };
const shape = { numOutputs: 2, width: 576, height: 512, referenceImages: [], referenceMode: 'reference' };
const everything = { identityId: aurora, ...texts, ...shape, outputFormat: 'png', preserveBranding: true };

/** One for each rule: both endpoints run the same workflow. */
test.each<[what: string, status: number, body: object, license?: Parameters<typeof newAccount>[0]]>([
  ['everything that a body can say', 200, everything],
  ['more than a mebibyte', 413, { identityId: aurora, prompt: 'x'.repeat(1024 * 1024) }],
  ['many wrong fields', 400, { identityId: aurora, prompt: '', seed: -1, width: 513, stpes: 1 }],
  ['more credits than are left', 429, { identityId: aurora, numOutputs: 3 }, { creditsLimit: 10, used: 8 }],
  ['an identity without a model', 503, { identityId: ember }],
  ['a model that fails', 500, { identityId: flint, numOutputs: 2 }],
])(
  'POST /playground/generate is POST /generate to the letter for %s: %i',
  async (_, status, sent, license = {}) => {
    const twins = { ownerId: randomUUID(), periodAnchorMs: Date.now() - 3600_000, ...license };
    const [one, two] = [await newAccount(twins), await newAccount(twins)];
    const [byKey, bySession] = [await one.generate(sent), await two.play(sent)];
    expect(byKey.status).toBe(status);
    expect(comparable(bySession)).toEqual(comparable(byKey));
    if (status === 200) await Promise.all(bySession.body.outputs.map(openImage));
    expect(await two.periodTotals()).toEqual(await one.periodTotals());
  },
);

test('of several failures, the first in the decided order is named', async () => {
  const own = await newAccount({ tier: 'starter', creditsLimit: 5, used: 5 });
  const { licenseId, ownerId } = own.license;
  const ended = (await grant(table, { ownerId, status: 'ended' })).license.licenseId;
  const wrong = { prompt: '', numOutputs: 9, width: 4096 };
  const valid = { ...small, numOutputs: 9, licenseId, identityId: ember };
  const steps: [number, string, object | string][] = [
    [400, 'INVALID_BODY', '{'],
    [400, 'INVALID_PARAMETERS', { ...wrong, licenseId: 5 }],
    [404, 'LICENSE_NOT_FOUND', { ...wrong, licenseId: 'lic_unknown' }],
    [403, 'LICENSE_INACTIVE', { ...wrong, licenseId: ended }],
    [400, 'MISSING_IDENTITY', { ...wrong, licenseId }],
    [404, 'IDENTITY_NOT_FOUND', { ...wrong, licenseId, identityId: 'idn_unknown' }],
    [401, 'IDENTITY_MISMATCH', { ...wrong, licenseId, identityId: identities.drift }],
    [400, 'INVALID_PARAMETERS', { ...wrong, licenseId, identityId: ember }],
    [400, 'TIER_LIMIT', valid],
    [429, 'CREDIT_LIMIT_EXCEEDED', { ...valid, numOutputs: 1 }],
  ];
  for (const [status, code, body] of steps) {
    const answer = await own.bySession('/playground/generate', { body });
    expect([answer.status, answer.body.code]).toEqual([status, code]);
  }
  await own.expectCharged(5);
});

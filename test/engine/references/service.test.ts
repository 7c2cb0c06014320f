import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { expectError } from '../../support/answers.ts';
import { grant, issueKey, tableOf, type Granted } from '../../support/grants.ts';
import { answer, redirect } from '../../support/internet/pages.ts';
import { preload, type Preload } from '../../support/internet/preloaded.ts';
import { addresses, startSmallInternet, type SmallInternet } from '../../support/internet/small-internet.ts';
import { isForbidden } from '../../support/internet/socket-spy.ts';
import { rateLogStore } from '../../../shared/limits/rate-log-store.ts';
import { objectsOf } from '../../support/objects.ts';
import { generate, small } from '../../support/requests.ts';
import { removeFolder, startService, temporaryFolder, type RunningService } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { samplePhoto } from '../../support/uploads.ts';

let net: SmallInternet;
let spied: Preload;
let service: RunningService;
let granted: Granted;
let folder: string;
let photo: Buffer;

beforeAll(async () => {
  folder = temporaryFolder();
  net = await startSmallInternet();
  spied = preload(net.access, join(folder, 'destinations'));
  service = await startService({ dataDir: join(folder, 'data'), env: spied.env });
  photo = await samplePhoto();
});
afterAll(async () => {
  await service.end();
  await net.close();
  removeFolder(folder);
});
beforeEach(async () => {
  net.clear();
  granted = await grant(tableOf(service.dataDir));
});

const generateFrom = (...urls: string[]) =>
  generate(service, granted.key, {
    identityId: service.ready.identities.citrine,
    referenceImages: urls.map((url) => ({ url })),
  });

/** Not to the service's own engines. */
const outside = () => spied.destinations().filter(({ outcome }) => outcome !== 'allowed');

test('a running service fetches a picture from the internet and uses it', async () => {
  net.site('cat.example', { '/go': redirect(302, 'https://dog.example/dog.png') });
  net.site('dog.example', { '/dog.png': answer(photo) }, [addresses.web6]);
  const { status, body } = await generateFrom('https://cat.example/go');
  expect([status, body.referenceImagesUsed]).toEqual([200, 1]);
  expect(outside().map(({ host }) => host)).toEqual([addresses.web, addresses.web6]);
  expect(spied.destinations().some(({ outcome }) => outcome === 'allowed')).toBe(true);
});

describe('nothing is fetched and nothing stored', () => {
  const body = (changes: object) => ({
    ...small,
    identityId: service.ready.identities.citrine,
    referenceImages: [{ url: 'https://cat.example/cat.png' }],
    ...changes,
  });
  const ways = ['/generate', '/generate?dryRun=true'];

  test.each([
    ['for a tier that may not have the picture', 'TIER_LIMIT', { tier: 'starter' }, { width: 2048 }],
    ['without the credits', 'CREDIT_LIMIT_EXCEEDED', { creditsLimit: 1 }, { numOutputs: 2 }],
    ['with the last credit used', 'CREDIT_LIMIT_EXCEEDED', { creditsLimit: 5, used: 5 }, {}],
  ] as const)('%s', async (_what, code, changes, asked) => {
    net.site('cat.example', { '/cat.png': answer(photo) });
    const { key, license } = await grant(tableOf(service.dataDir), changes);
    const before = outside().length;
    for (const path of ways) {
      const refused = await service.api({ path, key, body: body(asked) });
      expectError(refused, code === 'TIER_LIMIT' ? 400 : 429, code);
    }
    expect([outside().length - before, net.web.requests, net.dns.queries]).toEqual([0, [], []]);
    expect(objectsOf(service.dataDir, license)).toEqual([]);
  });

  test('of the 41st address that the keys of a license name in a minute, sent or tried', async () => {
    net.site('cat.example', { '/cat.png': answer(photo) });
    const table = tableOf(service.dataDir);
    const { key, license } = granted;
    const other = await issueKey(table, license);
    // Of a clock that is ahead, so that no machine is too slow for its minute.
    const usedAtMs = Array.from({ length: 38 }, () => Date.now() + 600_000);
    await rateLogStore(table).put(license.licenseId, 'references', usedAtMs, 0);
    const two = { referenceImages: [1, 2].map(() => ({ url: 'https://cat.example/cat.png' })) };
    const tried = await service.api({ path: ways[1]!, key, body: body(two) });
    expect([tried.status, net.web.requests.length]).toEqual([200, 2]);
    for (const path of ways) {
      const refused = await service.api({ path, key: other.key, body: body({}) });
      expectError(refused, 429, 'RATE_LIMITED');
      expect(refused.body.error).toMatch(/^At most 40 addresses of reference images in 60 seconds/);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(540);
    }
    expect(net.web.requests).toHaveLength(2);
    expect(objectsOf(service.dataDir, license)).toEqual([]);
    // Without an address nobody asks how many there were.
    expect(
      (await service.api({ path: ways[1]!, key: other.key, body: body({ referenceImages: [] }) })).status,
    ).toBe(200);
  });
});

// All that is hostile meets the fetcher itself: hostile.test.ts.
test.each([
  ['where functions get their work', 'http://127.0.0.1:9001/2018-06-01/runtime/'],
  ['to a name that moves inside after it was checked', '/on'],
])('a running service does not follow a redirect %s', async (_, location) => {
  const pages = { '/go': redirect(302, location), '/on': answer(photo) };
  net.site('trap.example', pages, [addresses.web], ['127.0.0.1']);
  const answered = await generateFrom('https://trap.example/go');
  expectError(answered, 400, 'INVALID_PARAMETERS');
  expect(answered.body.error).toMatch(/^referenceImages\[0\]\.url: could not be fetched/);
  expect(outside().filter(isForbidden)).toEqual([]);
  expect(spied.destinations().filter(({ port }) => port === 9001)).toEqual([]);
});

test('what a stranger’s server writes does not reach the log of a running service', async () => {
  net.site('liar.example', { '/cat.png': answer(photo) });
  net.web.spoil('liar.example', 'wrong name');
  expectError(await generateFrom('https://liar.example/cat.png'), 400, 'INVALID_PARAMETERS');
  const log = () => readFileSync(join(service.dataDir, 'service.log'), 'utf8');
  await until('the failure is in the log', () => log().includes('ERR_TLS_CERT_ALTNAME_INVALID'));
  expect(log()).not.toContain('liar.example');
});

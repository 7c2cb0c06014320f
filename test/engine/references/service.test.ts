import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { expectError } from '../../support/answers.ts';
import { grant, tableOf, type Granted } from '../../support/grants.ts';
import { answer, redirect } from '../../support/internet/pages.ts';
import { preload, type Preload } from '../../support/internet/preloaded.ts';
import { addresses, startSmallInternet, type SmallInternet } from '../../support/internet/small-internet.ts';
import { isForbidden } from '../../support/internet/socket-spy.ts';
import { generate } from '../../support/requests.ts';
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

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { expectError } from '../../support/answers.ts';
import { grant, type Granted } from '../../support/grants.ts';
import { answer, redirect } from '../../support/internet/pages.ts';
import { preload } from '../../support/internet/preloaded.ts';
import { addresses, startSmallInternet } from '../../support/internet/small-internet.ts';
import { isForbidden } from '../../support/internet/socket-spy.ts';
import { generate } from '../../support/requests.ts';
import { keepFolder, keepService } from '../../support/fixture.ts';
import { useFixture } from '../../support/use-fixture.ts';
import { until } from '../../support/until.ts';
import { samplePhoto } from '../../support/uploads.ts';

const service = useFixture(async (keep) => {
  const net = keep(await startSmallInternet());
  const spied = preload(net.access, join(keepFolder(keep), 'destinations'));
  return { net, spied, photo: await samplePhoto(), ...(await keepService(keep, { env: spied.env })) };
});
let granted: Granted;
beforeEach(async () => {
  service.net.clear();
  granted = await grant(service.table);
});

const generateFrom = (...urls: string[]) =>
  generate(service, granted.key, {
    identityId: service.ready.identities.citrine,
    referenceImages: urls.map((url) => ({ url })),
  });

/** Not to the service's own engines. */
const outside = () => service.spied.destinations().filter(({ outcome }) => outcome !== 'allowed');

test('a running service fetches a picture from the internet and uses it', async () => {
  service.net.site('cat.example', { '/go': redirect(302, 'https://dog.example/dog.png') });
  service.net.site('dog.example', { '/dog.png': answer(service.photo) }, [addresses.web6]);
  const { status, body } = await generateFrom('https://cat.example/go');
  expect([status, body.referenceImagesUsed]).toEqual([200, 1]);
  expect(outside().map(({ host }) => host)).toEqual([addresses.web, addresses.web6]);
  expect(service.spied.destinations().some(({ outcome }) => outcome === 'allowed')).toBe(true);
});

// All that is hostile meets the fetcher itself: hostile.test.ts.
test.each([
  ['where functions get their work', 'http://127.0.0.1:9001/2018-06-01/runtime/'],
  ['to a name that moves inside after it was checked', '/on'],
])('a running service does not follow a redirect %s', async (_, location) => {
  const pages = { '/go': redirect(302, location), '/on': answer(service.photo) };
  service.net.site('trap.example', pages, [addresses.web], ['127.0.0.1']);
  const answered = await generateFrom('https://trap.example/go');
  expectError(answered, 400, 'INVALID_PARAMETERS');
  expect(answered.body.error).toMatch(/^referenceImages\[0\]\.url: could not be fetched/);
  expect(outside().filter(isForbidden)).toEqual([]);
  expect(service.spied.destinations().filter(({ port }) => port === 9001)).toEqual([]);
});

test('what a stranger’s server writes does not reach the log of a running service', async () => {
  service.net.site('liar.example', { '/cat.png': answer(service.photo) });
  service.net.web.spoil('liar.example', 'wrong name');
  expectError(await generateFrom('https://liar.example/cat.png'), 400, 'INVALID_PARAMETERS');
  const log = () => readFileSync(join(service.dataDir, 'service.log'), 'utf8');
  await until('the failure is in the log', () => log().includes('ERR_TLS_CERT_ALTNAME_INVALID'));
  expect(log()).not.toContain('liar.example');
});

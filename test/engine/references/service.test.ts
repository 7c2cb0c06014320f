import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { expectError } from '../../support/answers.ts';
import { keepFolder, keepService } from '../../support/fixture.ts';
import { grant } from '../../support/grants.ts';
import { answer, redirect } from '../../support/internet/pages.ts';
import { preload } from '../../support/internet/preloaded.ts';
import { addresses, startSmallInternet } from '../../support/internet/small-internet.ts';
import { isForbidden } from '../../support/internet/socket-spy.ts';
import { generate } from '../../support/requests.ts';
import { samplePhoto } from '../../support/uploads.ts';
import { useFixture } from '../../support/use-fixture.ts';

const fixture = useFixture(async (keep) => {
  const net = keep(await startSmallInternet());
  const spied = preload(net.access, join(keepFolder(keep), 'destinations'));
  const service = await keepService(keep, { env: spied.env });
  return { net, spied, service, photo: await samplePhoto() };
});
beforeEach(() => fixture.net.clear());

async function generateFrom(url: string) {
  const { service } = fixture;
  const { key } = await grant(service.table);
  const identityId = service.ready.identities.citrine;
  return generate(service, key, { identityId, referenceImages: [{ url }] });
}

/** Not to the service's own engines. */
const outside = () => fixture.spied.destinations().filter(({ outcome }) => outcome !== 'allowed');

test('a running service fetches a picture from the internet and uses it', async () => {
  fixture.net.site('cat.example', { '/go': redirect(302, 'https://dog.example/dog.png') });
  fixture.net.site('dog.example', { '/dog.png': answer(fixture.photo) }, [addresses.web6]);
  const { status, body } = await generateFrom('https://cat.example/go');
  expect([status, body.referenceImagesUsed]).toEqual([200, 1]);
  expect(outside().map(({ host }) => host)).toEqual([addresses.web, addresses.web6]);
  expect(fixture.spied.destinations().some(({ outcome }) => outcome === 'allowed')).toBe(true);
});

// All that is hostile meets the fetcher itself: hostile.test.ts.
test('a running service does not follow a redirect to where functions get their work', async () => {
  const { net, spied } = fixture;
  net.site('trap.example', { '/go': redirect(302, 'http://127.0.0.1:9001/2018-06-01/runtime/') });
  const answered = await generateFrom('https://trap.example/go');
  expectError(answered, 400, 'INVALID_PARAMETERS');
  expect(answered.body.error).toMatch(/^referenceImages\[0\]\.url: could not be fetched/);
  expect(outside().filter(isForbidden)).toEqual([]);
  expect(spied.destinations().filter(({ port }) => port === 9001)).toEqual([]);
});

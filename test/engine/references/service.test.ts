import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { expectError } from '../../support/answers.ts';
import { grant, tableOf, type Granted } from '../../support/grants.ts';
import { answer, endless, head, redirect } from '../../support/internet/pages.ts';
import { preload, type Preload } from '../../support/internet/preloaded.ts';
import { addresses, startSmallInternet, type SmallInternet } from '../../support/internet/small-internet.ts';
import { isForbidden } from '../../support/internet/socket-spy.ts';
import { generate } from '../../support/requests.ts';
import { removeFolder, startService, temporaryFolder, type RunningService } from '../../support/service.ts';
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

describe('a running service keeps out of', () => {
  const inside = ['127.0.0.1', '169.254.169.254', '10.0.0.1', '::1', 'fd00:ec2::254'];

  test.each<[string, string, (() => void)?]>([
    ...inside.map((address): [string, string, () => void] => [
      `a name for ${address}`,
      'https://trap.example/cat.png',
      () => net.dns.set('trap.example', [address]),
    ]),
    ...inside.map((address): [string, string, () => void] => {
      const url = `https://${address.includes(':') ? `[${address}]` : address}/`;
      return [
        `a redirect to ${address}`,
        'https://trap.example/go',
        () => net.site('trap.example', { '/go': redirect(307, url) }),
      ];
    }),
    [
      'a redirect to the place where functions get their work',
      'https://trap.example/go',
      () => net.site('trap.example', { '/go': redirect(302, 'http://127.0.0.1:9001/2018-06-01/runtime/') }),
    ],
    ['a name that moves inside after a redirect', 'https://trap.example/go', movesInside],
  ])('%s', async (_, url, arrange) => {
    arrange?.();
    const answered = await generateFrom(url);
    expectError(answered, 400, 'INVALID_PARAMETERS');
    expect(answered.body.error).toMatch(/^referenceImages\[0\]\.url: could not be fetched/);
    expect(outside().filter(isForbidden)).toEqual([]);
    expect(spied.destinations().filter(({ port }) => port === 9001)).toEqual([]);
  });

  test.each([
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://[::1]/',
    'http://cat.example/',
    'file:///etc/passwd',
  ])('%s, whose text alone is refused', async (url) => {
    const before = outside().length;
    expectError(await generateFrom(url), 400, 'INVALID_PARAMETERS');
    expect(outside()).toHaveLength(before);
    expect(net.dns.queries).toEqual([]);
  });

  test('a file without end', async () => {
    net.site('cat.example', { '/large': endless(head(200), Buffer.alloc(65_536)) });
    const answered = await generateFrom('https://cat.example/large');
    expectError(answered, 400, 'INVALID_PARAMETERS');
    expect(answered.body.error).toContain('must be at most 10 MiB');
  });
});

test('a stranger’s server has no word in the log of a running service', async () => {
  net.site('liar.example', { '/cat.png': answer(photo) });
  net.web.spoil('liar.example', 'wrong name');
  expectError(await generateFrom('https://liar.example/cat.png'), 400, 'INVALID_PARAMETERS');
  const log = readFileSync(join(service.dataDir, 'service.log'), 'utf8');
  expect(log).toContain('ERR_TLS_CERT_ALTNAME_INVALID');
  expect(log).not.toContain('liar.example');
});

function movesInside(): void {
  const pages = { '/go': redirect(302, '/on'), '/on': answer(photo) };
  net.site('trap.example', pages, [addresses.web], ['127.0.0.1']);
}

import { describe, expect, test } from '@jest/globals';
import type { ObjectStore } from '../../../shared/images/object-store.ts';
import { ServiceError } from '../../../shared/base/errors.ts';
import type { FetchReferencesCommand, ReferenceItem } from '../../../shared/references/contract.ts';
import { newUploadId } from '../../../shared/images/upload.ts';
import { prepareReferences } from '../../../shared/references/prepare-references.ts';
import { rateLogsInMemory, standingClock, startMs } from '../generations/fixture.ts';

const hourMs = 3600 * 1000;
/** A fetcher that finds what a test says, and everything that references touch. */
function referencesFixture(found: (string | null)[] | Error = []) {
  const asked: FetchReferencesCommand[] = [];
  const deleted: string[] = [];
  const faults: string[] = [];
  const references = {
    fetch(command: FetchReferencesCommand) {
      asked.push(command);
      if (found instanceof Error) return Promise.reject(found);
      return Promise.resolve(command.items.map((_, i) => found[i] ?? null));
    },
  };
  const objects = {
    referencePutLink: (of: { requestId: string; licenseId: string }, i: number) =>
      Promise.resolve(`put ${of.licenseId}/${of.requestId}/${i}`),
    uploadLink: (of: { licenseId: string; uploadId: string }) =>
      Promise.resolve(`get ${of.licenseId}/${of.uploadId}`),
    async deleteReferences(of: { requestId: string; licenseId: string }, count: number) {
      deleted.push(`${of.licenseId}/${of.requestId}: ${count}`);
    },
  } as unknown as ObjectStore;
  const logFault = (requestId: string, what: string) => void faults.push(`${requestId}: ${what}`);
  const { logs, rateLogs } = rateLogsInMemory();
  const clock = standingClock();
  const deps = { objects, references, rateLogs, clock, logFault };
  /** @returns the error, or null. */
  const prepare = (
    items: ReferenceItem[],
    { copyReferences = true, licenseId = 'lic_1' } = {},
  ): Promise<any> =>
    prepareReferences({ requestId: 'r1', licenseId }, items, deps, { copyReferences }).then(
      () => null,
      (thrown: unknown) => thrown,
    );
  return { asked, deleted, faults, logs, clock, deps, prepare };
}

const url = (i: number) => ({ url: `https://a.example/${i}.png` });
const upload = (openedAtMs: number) => ({ uploadId: newUploadId(openedAtMs) });

test('each reference is fetched into its own place of the request, a url or an upload of the license', async () => {
  const late = upload(startMs - hourMs + 1);
  const { asked, deleted, prepare } = referencesFixture();
  expect(await prepare([url(0), late])).toBeNull();
  expect(asked).toEqual([
    {
      requestId: 'r1',
      items: [
        { kind: 'url', url: url(0).url, putLink: 'put lic_1/r1/0' },
        { kind: 'upload', getLink: `get lic_1/${late.uploadId}`, putLink: 'put lic_1/r1/1' },
      ],
    },
  ]);
  expect(deleted).toEqual([]);
});

test('a data: URI is handed on as its base64, and is no address that is fetched', async () => {
  const { asked, logs, prepare } = referencesFixture();
  expect(await prepare(Array.from({ length: 4 }, () => ({ url: 'DATA:image/png;base64,aaaa' })))).toBeNull();
  expect(asked[0]!.items[0]).toEqual({ kind: 'data', base64: 'aaaa', putLink: 'put lic_1/r1/0' });
  expect(logs.size).toBe(0);
});

test('references that are only looked at have no place to be stored', async () => {
  const sent = upload(startMs - 1);
  const { asked, deleted, prepare } = referencesFixture(['is a GIF']);
  expect(await prepare([url(0), sent], { copyReferences: false })).toMatchObject({
    code: 'INVALID_PARAMETERS',
  });
  expect(asked[0]!.items).toEqual([
    { kind: 'url', url: url(0).url, putLink: null },
    { kind: 'upload', getLink: `get lic_1/${sent.uploadId}`, putLink: null },
  ]);
  expect(deleted).toEqual([]);
});

test('all that can not be used is named in its place, whoever found out', async () => {
  const items = [url(0), { uploadId: 'upl_x' }, url(2), upload(startMs - hourMs), url(4)];
  const { asked, prepare } = referencesFixture(['is away', null, 'is a GIF']);
  expect(await prepare(items)).toMatchObject({
    code: 'INVALID_PARAMETERS',
    message: [
      'referenceImages[0].url: is away.',
      'referenceImages[1].uploadId: is not an upload of this license.',
      'referenceImages[3].uploadId: was opened more than an hour ago: open another with POST /uploads.',
      'referenceImages[4].url: is a GIF.',
    ].join(' '),
  });
  // The request is refused in any case, so nothing is stored for it.
  expect(asked[0]!.items.map(({ putLink }) => putLink)).toEqual([null, null, null]);
});

test('where no upload can be one, nothing is fetched', async () => {
  const { asked, prepare } = referencesFixture();
  expect([(await prepare([{ uploadId: 'x' }])).code, asked]).toEqual(['INVALID_PARAMETERS', []]);
});

const away = new ServiceError('SERVICE_UNAVAILABLE', 'Away.');

test.each([
  ['of which one reference can not be used', [null, 'is a GIF'], { code: 'INVALID_PARAMETERS' }],
  ['of which nobody knows what was fetched', away, away],
] as [string, (string | null)[] | Error, object][])(
  'no copy is left of a request %s',
  async (_, found, refusal) => {
    const { deleted, prepare } = referencesFixture(found);
    expect(await prepare([url(0), upload(startMs - 1)])).toMatchObject(refusal);
    expect(deleted).toEqual(['lic_1/r1: 2']);
  },
);

describe('the addresses of a license', () => {
  const four = [url(0), url(1), url(2), url(3)];
  const refused = (resetSeconds: number, addresses: number) => ({
    code: 'RATE_LIMITED',
    retryAfterSeconds: resetSeconds,
    message:
      `At most 40 addresses of reference images in 60 seconds are fetched for one license, and this request names ` +
      `${addresses}. Try again in ${resetSeconds} seconds, or send files with POST /uploads.`,
  });

  test('are 40 a minute, and the 41st is not fetched, neither to be used nor to be tried', async () => {
    const { asked, clock, prepare } = referencesFixture();
    for (let i = 0; i < 10; i++) {
      expect(await prepare(four, { copyReferences: i % 2 === 0 })).toBeNull();
      clock.nowMs += 1000;
    }
    expect(await prepare([url(4)])).toMatchObject(refused(50, 1));
    expect(await prepare([url(4)], { copyReferences: false })).toMatchObject(refused(50, 1));
    expect(asked).toHaveLength(10);
    clock.nowMs += 50_000;
    expect(await prepare([url(4)])).toBeNull();
  });

  test('are taken all together or not at all', async () => {
    const { clock, prepare, logs } = referencesFixture();
    for (let i = 0; i < 9; i++) await prepare(four);
    clock.nowMs += 1000;
    await prepare([url(0), url(1)]);
    expect(await prepare(four)).toMatchObject(refused(59, 4));
    expect(logs.get('lic_1 references')!.log).toHaveLength(38);
    expect(await prepare([url(0), url(1)])).toBeNull();
  });

  test('are counted for this license alone, and uploads are none', async () => {
    const { logs, prepare } = referencesFixture();
    for (let i = 0; i < 10; i++) await prepare(four);
    expect(await prepare(four, { licenseId: 'lic_2' })).toBeNull();
    expect(await prepare([upload(startMs - 1)])).toBeNull();
    expect(logs.get('lic_1 references')!.version).toBe(10);
  });

  test('are not fetched while nobody knows how many there were', async () => {
    const { asked, deps, prepare } = referencesFixture();
    const cause = new Error('the table is away');
    deps.rateLogs.put = () => Promise.reject(cause);
    expect(await prepare([url(0)])).toMatchObject({ code: 'SERVICE_UNAVAILABLE', cause });
    expect(asked).toEqual([]);
  });
});

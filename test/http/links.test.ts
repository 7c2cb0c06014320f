import { beforeAll, describe, expect, test } from '@jest/globals';
import { grant } from '../support/grants.ts';
import { generate } from '../support/requests.ts';
import { sharedService } from '../support/use-service.ts';

const service = sharedService();
let key: string;
/** Two images of one request, and one of another account's. */
let links: string[];
let strangersLink: string;

beforeAll(async () => {
  const { identities } = service.ready;
  const [owner, stranger] = await Promise.all([grant(service.table), grant(service.table)]);
  ({ key } = owner);
  const answer = await generate(service, key, { identityId: identities.aurora, numOutputs: 2 });
  ({ outputs: links } = answer.body);
  const other = await generate(service, stranger.key, { identityId: identities.aurora });
  [strangersLink] = other.body.outputs;
});

/** The link with something about it changed. */
function changed(change: (url: URL) => void): string {
  const url = new URL(links[0]!);
  change(url);
  expect(url.href).not.toBe(links[0]);
  return url.href;
}

async function expectForbidden(link: string): Promise<void> {
  const response = await fetch(link);
  const text = await response.text();
  expect({ link, status: response.status }).toEqual({ link, status: 403 });
  expect(text).not.toContain('PNG');
}

describe('a link', () => {
  test('carries its signature and is promised for an hour, not longer', () => {
    for (const link of [...links, strangersLink]) {
      const { searchParams } = new URL(link);
      expect(searchParams.get('X-Amz-Signature')).toMatch(/^[0-9a-f]{64}$/);
      expect(searchParams.get('X-Amz-Expires')).toBe('3600');
      expect(searchParams.get('X-Amz-Date')).toMatch(/^\d{8}T\d{6}Z$/);
    }
  });

  // The tests of the local S3 hold every other way to change a link or to use it otherwise.
  test('is 403 when its signature or its life is another, for any other object, and without a signature', async () => {
    const signature = new URL(links[0]!).searchParams.get('X-Amz-Signature')!;
    const other = (signature.startsWith('a') ? 'b' : 'a') + signature.slice(1);
    await expectForbidden(changed((url) => url.searchParams.set('X-Amz-Signature', other)));
    await expectForbidden(changed((url) => url.searchParams.set('X-Amz-Expires', '7200')));
    for (const link of [links[1]!, strangersLink]) {
      await expectForbidden(changed((url) => (url.pathname = new URL(link).pathname)));
    }
    await expectForbidden(changed((url) => (url.search = '')));
    await expectForbidden(new URL('/image-generation?list-type=2', links[0]).href);
  });
});

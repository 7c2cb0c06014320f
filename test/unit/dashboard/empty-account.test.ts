import { expect, test } from '@jest/globals';
import { sessionEnded } from '../../../dashboard/src/api/api-error.ts';
import { createApi } from '../../../dashboard/src/api/client.ts';
import { emptyAccount } from '../../../dashboard/src/screens/account/empty-account.ts';

/** An account of 230 keys and two licenses, in pages as long as the service answers them. `sent` are its changes, in order. */
function accountOf({ failing = '', endsAt = '' } = {}) {
  const rows: Record<string, Record<string, unknown>[]> = {
    keys: Array.from({ length: 230 }, (_, i) => ({
      keyId: `key-${i}`,
      status: i % 50 === 7 ? 'revoked' : 'active',
    })),
    generations: Array.from({ length: 12 }, (_, i) => ({ id: `req-${i}`, licenseId: i < 11 ? 'a' : 'b' })),
  };
  const sent: string[] = [];
  let hasEnded = false;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const { pathname, searchParams } = new URL(String(input));
    if (init?.method === 'DELETE') {
      const id = pathname.split('/').at(-1)!;
      sent.push(id);
      if (id === endsAt) hasEnded = true;
      const code = 'REQUEST_RUNNING';
      return id === failing
        ? Response.json({ error: { code, message: 'It runs.' } }, { status: 409 })
        : Response.json({});
    }
    if (pathname === '/licenses') {
      return Response.json({ licenses: [{ licenseId: 'a' }, { licenseId: 'b' }], nextCursor: null });
    }
    const list = pathname === '/keys' ? 'keys' : 'generations';
    const licenseId = searchParams.get('licenseId');
    const all = rows[list]!.filter((row) => licenseId === null || row.licenseId === licenseId);
    const from = Number(searchParams.get('cursor') ?? 0);
    const to = from + (list === 'keys' ? Number(searchParams.get('limit')) : 5);
    return Response.json({
      [list]: all.slice(from, to),
      nextCursor: to < all.length ? String(to) : null,
    });
  };
  const accessToken = async (): Promise<string> => {
    if (hasEnded) throw sessionEnded();
    return 't';
  };
  const tokens = { accessToken, replaceToken: accessToken, end: () => {} };
  const active = rows.keys!.filter(({ status }) => status === 'active').map(({ keyId }) => keyId);
  return {
    api: createApi('https://api.test', tokens, fetch),
    sent,
    active,
    requests: rows.generations!.map(({ id }) => id),
  };
}

test('all pages of keys are revoked, then all requests of all licenses deleted', async () => {
  const { api, sent, active, requests } = accountOf();
  const told: string[] = [];
  await emptyAccount(api, new AbortController().signal, ({ what }) => told.push(what));
  expect(active).toHaveLength(225);
  expect(sent).toEqual([...active, ...requests]);
  expect(told[0]).toBe('Revoking your keys.');
  expect(told.at(-1)).toBe('12 of 12 requests deleted.');
});

test('a request that stays is said once everything else is gone, and nothing more of the account is deleted', async () => {
  const { api, sent, active, requests } = accountOf({ failing: 'req-3' });
  let told = '';
  const emptied = emptyAccount(api, new AbortController().signal, ({ what }) => (told = what));
  await expect(emptied).rejects.toMatchObject({
    code: 'INCOMPLETE',
    message: expect.stringMatching(/^1 request could not be deleted/),
  });
  expect(sent).toEqual([...active, ...requests]);
  expect(told).toBe('11 of 12 requests deleted.');
});

test('one whose session ends on the way says that, and not that requests still run', async () => {
  const { api, sent } = accountOf({ endsAt: 'req-3' });
  const emptied = emptyAccount(api, new AbortController().signal, () => {});
  await expect(emptied).rejects.toMatchObject({ code: 'SESSION_ENDED' });
  expect(sent.at(-1)).toBe('req-3');
});

test('one that is stopped sends nothing more, and says so instead of having the account deleted', async () => {
  const { api, sent } = accountOf();
  const stopping = new AbortController();
  const emptied = emptyAccount(api, stopping.signal, ({ done }) => done === 2 && stopping.abort());
  await expect(emptied).rejects.toThrow(stopping.signal.reason);
  expect(sent.slice(-2)).toEqual(['req-0', 'req-1']);
});

import { expect, test } from '@jest/globals';
import { createApi } from '../../../dashboard/src/api/client.ts';
import { sessionEnded } from '../../../dashboard/src/api/api-error.ts';
import { accept } from '../../../dashboard/src/api/generate.ts';
import { requestId } from '../../support/generation-run.ts';
import { answered, refused, scriptedFetch, type Script } from '../../support/scripted-fetch.ts';

// `test/unit/client/respond-async.test.ts` holds how a request is accepted. Here is what the playground makes of it.

const body = { licenseId: 'lic_1', identityId: 'idn_1', prompt: 'a quiet bay' };

async function outcomeOf(script: Script, token = async () => 'token') {
  const { fetch, sent } = scriptedFetch(script);
  const tokens = { accessToken: token, replaceToken: token, end: () => {} };
  const api = createApi('https://api.test', tokens, fetch);
  const outcome: any = await accept(api, { body, idempotencyKey: 'key-1' }).catch((error: unknown) => error);
  return { outcome, sent };
}

test('a run is sent to the playground’s own route, and asks not to wait', async () => {
  const { outcome, sent } = await outcomeOf(answered({ requestId, creditsReserved: 2 }, { status: 202 }));
  expect(outcome).toEqual({ requestId, creditsReserved: 2 });
  const [{ line, headers, body: given }] = sent as [(typeof sent)[0]];
  expect([line, given]).toEqual(['POST https://api.test/playground/generate', body]);
  expect([headers.get('prefer'), headers.get('idempotency-key')]).toEqual(['respond-async', 'key-1']);
});

test('a repeat of a run whose answer was lost finds it', async () => {
  const { outcome } = await outcomeOf(refused(409, 'IDEMPOTENCY_IN_PROGRESS', { requestId }));
  expect(outcome).toEqual({ requestId, creditsReserved: null });
});

test('a refusal is shown as it is, and the playground does not send again by itself', async () => {
  const { outcome, sent } = await outcomeOf(
    refused(503, 'SERVICE_UNAVAILABLE', { retryAfter: 9, requestId: 'req_0' }),
  );
  const message = 'Refused as SERVICE_UNAVAILABLE.';
  expect(outcome).toMatchObject({ message, retryAfterSeconds: 9, requestId: 'req_0' });
  expect(sent).toHaveLength(1);
});

test('what people can’t read becomes a sentence for them', async () => {
  expect((await outcomeOf(new TypeError('fetch failed'))).outcome).toMatchObject({ code: 'NETWORK' });
  const page = await outcomeOf(() => new Response('<!doctype html>'));
  expect(page.outcome).toMatchObject({ code: 'UNEXPECTED_ANSWER' });
  expect(page.outcome.message).toContain('Try again');
});

test('nothing is sent when there is no token any more', async () => {
  const ended = sessionEnded();
  const { outcome, sent } = await outcomeOf(answered({}), () => Promise.reject(ended));
  expect([outcome, sent]).toEqual([ended, []]);
});

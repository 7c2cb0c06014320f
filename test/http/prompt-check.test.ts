import { readFileSync } from 'node:fs';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { moderationSecret } from '../../local/environment.ts';
import { tenantOf } from '../../shared/model/tenant.ts';
import { keepService } from '../support/fixture.ts';
import { placesOf } from '../support/places.ts';
import { useScriptedServer, type ScriptedAnswer } from '../support/scripted-server.ts';
import { useFixture } from '../support/use-fixture.ts';
import { newAccount as accountOf, type Account } from './fixture.ts';

const server = useScriptedServer();
const service = useFixture((keep) => keepService(keep, { args: ['--moderation', `${server.url}/check`] }));
let identityId: string;
let account: Account;

const verdict = (value: object): ScriptedAnswer => ({ body: JSON.stringify(value) });
const refusal = verdict({ allowed: false, categories: ['violence', 'Self Harm', 'a rule: /x.*y/'] });
const sentence =
  'The prompt was refused for violence, self-harm. Change what it asks for, then send it again. Nothing was charged.';

beforeAll(() => void (identityId = service.ready.identities.aurora!));
beforeEach(async () => {
  server.answer = () => verdict({ allowed: true });
  account = await accountOf({}, service);
});

const asked = () => Promise.all(server.requests.map(async ({ body }) => JSON.parse(await body)));

test('an allowed prompt generates, and the server knows by the signature who asks', async () => {
  const sent = { prompt: 'a calm lake', negativePrompt: 'fog' };
  const { status, body } = await account.generate(sent);
  expect(status).toBe(200);
  const tenant = tenantOf(account.license.licenseId);
  expect(await asked()).toEqual([{ ...sent, identityId, tenant }]);
  const [{ path, headers, body: raw }] = server.requests as any;
  expect([path, headers['webhook-id']]).toEqual(['/check', body.requestId]);
  const verify = async (secret: string) => new Webhook(secret).verify(await raw, headers);
  await expect(verify(moderationSecret.text)).resolves.toMatchObject(sent);
  await expect(verify('whsec_YW5vdGhlcg==')).rejects.toThrow('No matching signature');
});

describe('a refused prompt', () => {
  const prompt = 'Refused-prompt-Qx7';
  const negativePrompt = 'Refused-negative-Qx7';

  beforeEach(() => void (server.answer = () => refusal));

  test('has one answer in the words of each format, charges nothing and is stored nowhere', async () => {
    const { body: byKey, status } = await account.generate({ prompt, negativePrompt });
    expect([status, byKey.code, byKey.error]).toEqual([400, 'CONTENT_REFUSED', sentence]);
    const dry = await account.byKey('/generate?dryRun=true', { body: { prompt, identityId } });
    expect([dry.status, dry.body.error]).toEqual([400, sentence]);
    const { body: played } = await account.play({ prompt });
    expect([played.code, played.error]).toEqual(['CONTENT_REFUSED', sentence]);
    const { body: openAi } = await account.byKey('/openai/v1/images/generations', {
      body: { model: 'gpt-image-1', prompt },
    });
    const { error } = openAi;
    expect(error).toEqual({
      message: sentence,
      type: 'invalid_request_error',
      param: null,
      code: 'content_policy_violation',
    });
    const tool = await account.tool('generate', { prompt, identityId });
    const { code, requestId } = tool.structuredContent;
    expect([tool.isError, code, requestId]).toEqual([true, 'CONTENT_REFUSED', expect.any(String)]);
    expect(server.requests).toHaveLength(5);

    await account.expectCharged(0);
    expect((await account.byKey('/generate')).body.generations).toEqual([]);
    expect(placesOf(service.dataDir, 'CONTENT_REFUSED')).toEqual(['service.log', 'table']);
    for (const text of [prompt, negativePrompt]) expect(placesOf(service.dataDir, text)).toEqual([]);
  });

  test('counts by its categories among what the license was refused', async () => {
    await account.generate({ prompt });
    const path = `/licenses/${account.license.licenseId}/refused-requests`;
    const { body } = await account.bySession(path);
    expect(body.requests).toMatchObject([{ code: 'CONTENT_REFUSED', error: sentence }]);
  });
});

test('a server that writes no list of categories as null is understood', async () => {
  server.answer = () => verdict({ allowed: true, categories: null });
  expect((await account.generate({ prompt: 'a calm lake' })).status).toBe(200);
});

test('nobody is asked about a request that is refused anyway, or has its answer already', async () => {
  await account.generate({ prompt: '' });
  await account.generate({ numOutputs: 5 });
  expect(server.requests).toEqual([]);
  const header = { 'idempotency-key': 'once' };
  const [first, again] = [await account.generate({}, header), await account.generate({}, header)];
  expect([first.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
  expect(server.requests).toHaveLength(1);
});

test.each<[string, ScriptedAnswer | null]>([
  ['fails', { status: 500 }],
  ['answers no JSON', { body: 'a calm lake' }],
  ['answers a page', { headers: { 'content-type': 'text/html' }, body: '<p>a calm lake</p>' }],
  ['says neither yes nor no', verdict({ allowed: 'yes' })],
  ['sends 10 MB', verdict({ allowed: true, categories: ['x'.repeat(10_000_000)] })],
  ['sends elsewhere', { status: 307, headers: { location: 'http://localhost:9/check' } }],
  ['sends to itself', { status: 307, headers: { location: '/other' } }],
  ['sends a byte a second', { ...verdict({ allowed: true }), drips: true }],
  ['answers with another status', { status: 204 }],
  ['never answers', null],
])('a server that %s refuses the request for now, and nothing stays reserved', async (_, answer) => {
  server.answer = () => answer;
  const { status, body, headers } = await account.generate({ prompt: 'Unchecked-prompt-Zy3' });
  expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'SERVICE_UNAVAILABLE', '5']);
  expect(body.error).toBe("Prompts can't be checked at the moment. Try again shortly.");
  await account.expectCharged(0);
  expect(server.requests).toHaveLength(1);
  expect(readFileSync(`${service.dataDir}/service.log`, 'utf8')).not.toContain('Unchecked-prompt');
});

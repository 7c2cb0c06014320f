import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { RunningServer } from '../../local/http/server.ts';
import { playgroundCaller } from '../../shared/generations/contract.ts';
import { dateOf } from '../../shared/limits/refusals.ts';
import { itemKeys } from '../../shared/table/keys.ts';
import { queryAll } from '../../shared/table/table.ts';
import { deliver, emit, startContainer } from '../fuzz/quick-container.ts';
import { embeddedValues } from '../support/counted-metrics.ts';
import { lastEvent } from '../support/events.ts';
import { tableOf } from '../support/grants.ts';
import { objectsOf } from '../support/objects.ts';
import { placesOf } from '../support/places.ts';
import type { ServiceFixture } from '../support/fixture.ts';
import { removeFolder, startService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { newAccount as accountOf, type Account } from './fixture.ts';

const service = {} as ServiceFixture;
let container: RunningServer;
let account: Account;

const secret = 'Words-of-the-check-Qx7';

/** It refuses what it has made for one prompt, and delivers anything else. */
beforeAll(async () => {
  container = await startContainer(async (request, res) => {
    emit(res, { event: 'started' });
    if (request.prompt !== prompt) return deliver(request, res);
    const categories = ['violence', `a rule: ${secret}`];
    emit(res, { event: 'failed', reason: 'content_refused', message: secret, categories });
    res.end();
  });
  Object.assign(service, await startService({ args: ['--container', container.url] }));
  service.table = tableOf(service.dataDir);
});
afterAll(async () => {
  await service.end();
  await container.close();
  removeFolder(service.dataDir);
});
beforeEach(async () => void (account = await accountOf({}, service)));

const prompt = 'Refused-prompt-Qx7';
const negativePrompt = 'Refused-negative-Qx7';
const why = 'The image was refused for violence. Change the prompt, or try another seed.';
const sentence = `${why} Nothing was charged.`;

test('a picture that the model refuses is 400 in the words of each format, charged nothing and stored nowhere', async () => {
  const { generate, play, byKey, tool, stored } = account;
  const plain = await generate({ prompt, negativePrompt });
  expect([plain.status, plain.body]).toEqual([400, { error: sentence, code: 'CONTENT_REFUSED' }]);
  const played = await play({ prompt });
  expect([played.status, played.body.error]).toEqual([400, sentence]);
  const streamed = await generate({ prompt }, { accept: 'text/event-stream' });
  expect(lastEvent(streamed.body)).toEqual({
    event: 'failed',
    data: { error: sentence, code: 'CONTENT_REFUSED', status: 400 },
  });
  const openAi = await byKey('/openai/v1/images/generations', { body: { model: 'aurora', prompt } });
  const { message, code, type } = openAi.body.error;
  expect([openAi.status, message, code, type]).toEqual([
    400,
    sentence,
    'content_policy_violation',
    'invalid_request_error',
  ]);
  expect(openAi.headers.get('x-should-retry')).toBe('false');

  const later = await generate({ prompt, negativePrompt }, { prefer: 'respond-async' });
  const { requestId } = later.body;
  await until('it has ended', async () => (await stored(requestId)).status === 'FAILED');
  expect(await stored(requestId)).toMatchObject({
    errorCode: 'CONTENT_REFUSED',
    errorMessage: why,
    creditsCharged: 0,
    outputs: [],
  });

  // The sixth of what had the model work for nothing.
  const said = await tool('generate', { prompt, identityId: service.ready.identities.aurora });
  expect([said.isError, said.structuredContent.code]).toEqual([true, 'RATE_LIMITED']);
  expect(said.structuredContent.error).toContain(
    '5 whose image or reference image was refused for its content',
  );
  await account.expectCharged(0);

  // Its record has its prompt, as every accepted request's has.
  const { dataDir } = service;
  expect([secret, prompt, negativePrompt].map((text) => placesOf(dataDir, text))).toEqual([
    [],
    ['table'],
    ['table'],
  ]);
  expect(objectsOf(dataDir, account.license)).toEqual([]);
  const log = readFileSync(`${dataDir}/service.log`, 'utf8');
  expect(log).toContain('CONTENT_REFUSED');
  expect(log).not.toContain('generation failed');
});

test('a refused picture counts once for its caller, by its categories, whether anybody waited for it or not', async () => {
  const { generate, play, license, keyId, stored } = account;
  const later = { prefer: 'respond-async' };
  const { body } = await generate({ prompt }, later);
  await until('it has ended', async () => (await stored(body.requestId)).status === 'FAILED');
  await generate({ prompt, numOutputs: 2 });
  expect((await generate({ prompt }, { prefer: 'respond-async, wait=20' })).body.error).toBe(sentence);
  await play({ prompt }, later);
  const counted = (caller: string, times: number) => ({
    PK: expect.any(String),
    SK: `${dateOf(Date.now())}#${caller}`,
    ttl: expect.any(Number),
    CONTENT_REFUSED: times,
    'CONTENT_REFUSED violence': times,
  });
  const query = {
    KeyConditionExpression: 'PK = :license AND SK < :letters',
    ExpressionAttributeValues: {
      ':license': itemKeys.refusals(license.licenseId, '', '').PK,
      ':letters': 'A',
    },
  };
  const all = async () => queryAll(service.table, query, (item) => item);
  await until('all are counted', async () => (await all()).length === 2);
  expect(await all()).toEqual([counted(keyId, 3), counted(playgroundCaller, 1)]);
});

test('the operator’s metrics have a request whose pictures were refused once, whoever is told, beside those that completed', async () => {
  const { generate, license } = account;
  const lines = () =>
    readFileSync(`${service.dataDir}/service.log`, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ licenseId }) => licenseId === license.licenseId);
  expect((await generate({})).status).toBe(200);
  await generate({ prompt, numOutputs: 2 });
  await generate({ prompt }, { prefer: 'respond-async, wait=20' });
  const told = () => lines().filter(({ code }) => code === 'CONTENT_REFUSED');
  // The second one by its run, and by the call that waited for it.
  await until('all have told', () => told().length === 3);
  const values = embeddedValues(lines());
  expect([values.get('RefusedPictures'), values.get('PaintTime')?.length]).toEqual([[1, 1], 1]);
});

test('what it does not refuse is delivered, and takes one refusal away', async () => {
  await account.generate({ prompt });
  expect((await account.generate({})).status).toBe(200);
  for (let i = 0; i < 5; i += 1) expect((await account.generate({ prompt })).status).toBe(400);
});

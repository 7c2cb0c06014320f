import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { event } from '../../support/generation-run.ts';
import { answered, type Script } from '../../support/scripted-fetch.ts';
import { body, clientOf, streamed } from './fixture.ts';

/** The examples of docs/openapi.json as it was first checked in. */
const oldest = JSON.parse(readFileSync(new URL('oldest-answers.json', import.meta.url), 'utf8'));
const made = oldest['POST /generate'];
const record = oldest['GET /generate/{requestId}'];
const { requestId } = made;
const accepted = event('accepted', { requestId, creditsReserved: 1 });
const client = (...scripts: Script[]) => clientOf(scripts, { maxRetries: 0 }).client;
const picture = (): Response => new Response('a picture');

test('this client takes every answer of the oldest service', async () => {
  const { outputs, seed, usage } = made;
  for (const script of [answered(made), streamed(accepted + event('completed', made))]) {
    const result = await client(script, picture).generate(body);
    const { creditsCharged } = usage;
    expect(result).toEqual({ ...made, creditsCharged, previews: [null] });
    expect((await result.bytes()).length).toBe(9);
  }
  const polled = { requestId, outputs, seed, usage: null, creditsCharged: 1, previews: [null] };
  expect(await client(streamed(accepted), answered(record)).generate(body)).toMatchObject(polled);
  const pending = await client(answered(made), answered(record)).respondAsync(body);
  expect([pending.creditsReserved, await pending.wait()]).toEqual([1, expect.objectContaining(polled)]);

  const listed = await client(answered({ generations: [record], nextCursor: null })).listGenerations();
  expect(listed.generations).toEqual([{ ...record, previews: [null] }]);
  const failed = { ...record, status: 'FAILED', outputs: [], errorMessage: 'It broke.' };
  const code = { code: 'GENERATION_FAILED', status: 500, requestId };
  await expect(client(answered(failed)).waitForGeneration(requestId)).rejects.toMatchObject(code);
});

test('this client passes on what it does not know of a newer service', async () => {
  const newer = { ...made, watermark: { kind: 'new' }, usage: { ...made.usage, extraRemaining: 7 } };
  const stream =
    accepted + event('weather', { sun: true }) + event('progress', { step: 1, steps: 2, eta: 3 });
  const result = await client(streamed(stream + event('completed', newer))).generate(body);
  expect(result).toMatchObject(newer);
  expect(await client(answered({ ...record, watermark: 1 })).getGeneration(requestId)).toMatchObject({
    watermark: 1,
  });
  for (const errorCode of ['PAUSED', 'TOO_BRIGHT']) {
    const failed = { ...record, status: 'FAILED', errorCode, errorMessage: 'No.' };
    const error = { code: errorCode, status: 500, requestId };
    await expect(client(answered(failed)).waitForGeneration(requestId)).rejects.toMatchObject(error);
  }
  const refusal = answered({ error: 'No.', code: 'NEW_CODE', hint: 1 }, { status: 418 });
  await expect(client(refusal).listIdentities()).rejects.toMatchObject({ code: 'NEW_CODE', status: 418 });
});

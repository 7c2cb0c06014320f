import { beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../dashboard/src/api/api-error.ts';
import { createApi, type Api } from '../../../dashboard/src/api/client.ts';
import { waitingText } from '../../../dashboard/src/screens/playground/place.ts';
import { readyText, shortPrompt, type Result } from '../../../dashboard/src/screens/playground/results.ts';
import {
  createRunStore,
  mayRepeat,
  waitSeconds,
  type GenerationCommand,
} from '../../../dashboard/src/screens/playground/run-store.ts';
import {
  accepted,
  answer,
  completed,
  event,
  openStream,
  stored,
  streamOf,
  told,
} from '../../support/generation-run.ts';
import { answered, scriptedFetch, type Script, type Sent } from '../../support/scripted-fetch.ts';

const command: GenerationCommand = {
  body: { licenseId: 'lic_1', identityId: 'idn_1', prompt: 'a quiet bay', numOutputs: 2 },
  references: [],
  identityName: 'harbor',
  idempotencyKey: 'key-1',
};
const stages = [accepted, event('started', {}), event('progress', { step: 3, steps: 30 }), completed];
const wholeStream: Script = () => streamOf(stages.join(''));

function apiOf(...scripts: Script[]): { api: Api; sent: Sent[] } {
  const { fetch, sent } = scriptedFetch(...scripts);
  const token = async (): Promise<string> => 'token';
  const tokens = { accessToken: token, replaceToken: token, end: () => {} };
  return { api: createApi('https://api.test', tokens, fetch), sent };
}

/** An API that accepts, and whose stream then waits for the test. */
function slowApi() {
  const stream = Promise.withResolvers<ReturnType<typeof openStream>>();
  const { api, sent } = apiOf((signal) => {
    const opened = openStream(signal);
    opened.write(accepted);
    stream.resolve(opened);
    return opened.response;
  });
  return { api, sent, stream: stream.promise };
}

let store: ReturnType<typeof createRunStore>;
beforeEach(() => void (store = createRunStore(() => 1000)));

/** The phases that the store goes through from now on. */
function phases(): string[] {
  const seen: string[] = [];
  store.subscribe(() => seen.push(store.state().run?.phase ?? 'none'));
  return seen;
}

describe('a run', () => {
  test('goes from accepted to started and to images that are shown', async () => {
    const seen: unknown[] = [];
    store.subscribe(() => {
      const { run } = store.state();
      seen.push(run && [run.phase, run.progress?.step ?? null, run.requestId]);
    });
    await store.start(apiOf(wholeStream).api, command);
    expect(seen).toEqual([
      ['sending', null, null],
      ['queued', null, 'req_1'],
      ['running', null, 'req_1'],
      ['running', 3, 'req_1'],
      null,
    ]);
    const { results, shownId, failure } = store.state();
    expect(results).toHaveLength(1);
    expect(results[0]).toMatchObject({ requestId: 'req_1', seed: 7, creditsCharged: 1, body: command.body });
    expect([shownId, failure]).toEqual(['req_1', null]);
  });

  test('shows how many wait before it, until it starts', async () => {
    const waiting = event('queued', { position: 3, etaSeconds: 12 });
    const { api } = apiOf(() => streamOf([accepted, waiting, ...stages.slice(1)].join('')));
    const seen: unknown[] = [];
    store.subscribe(() => {
      const { run } = store.state();
      seen.push(run && [run.phase, run.place]);
    });
    await store.start(api, command);
    expect(seen.slice(1, 4)).toEqual([
      ['queued', null],
      ['queued', { position: 3, etaSeconds: 12 }],
      ['running', { position: 3, etaSeconds: 12 }],
    ]);
  });

  test.each([
    [1, 0, 'Waiting: you are next'],
    [1, 4, 'Waiting: you are next, about 4 s'],
    [2, 0, 'Waiting: 1 before you'],
    [4, 72, 'Waiting: 3 before you, about 1 min 12 s'],
  ])('at position %d, %d seconds before its turn, says %j', (position, etaSeconds, said) => {
    expect(waitingText({ position, etaSeconds })).toBe(said);
  });

  test('tells its listeners when it was accepted and when it has ended', async () => {
    const calls: string[] = [];
    const listeners = { onChange: () => calls.push('change'), onDone: () => calls.push('done') };
    await store.start(apiOf(wholeStream).api, command, listeners);
    expect(calls).toEqual(['change', 'done', 'change']);
  });

  test('is sent once its images are uploaded, with the ids of the uploads', async () => {
    const { api, sent } = apiOf(wholeStream);
    const seen = phases();
    const gate = Promise.withResolvers<GenerationCommand>();
    const run = store.start(api, command, { prepare: () => gate.promise });
    expect([seen, sent]).toEqual([['uploading'], []]);
    const named = { ...command.body, referenceImages: [{ uploadId: 'upl_1' }] };
    gate.resolve({ ...command, body: named });
    await run;
    expect(seen.slice(0, 3)).toEqual(['uploading', 'sending', 'queued']);
    expect(sent.map((one) => one.body)).toEqual([named]);
    expect(store.state().results[0]).toMatchObject({ body: named });
  });

  test('that is stopped while its images are uploaded sends nothing', async () => {
    const { api, sent } = apiOf(wholeStream);
    const run = store.start(api, command, {
      prepare: (_, signal) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    });
    store.leave();
    await run;
    expect(sent).toEqual([]);
    expect(store.state()).toMatchObject({ run: null, left: null, failure: null, results: [] });
  });

  test('whose images can’t be uploaded fails with the reason and sends nothing', async () => {
    const { api, sent } = apiOf(wholeStream);
    const error = new ApiError('cup.png could not be uploaded.', { status: 0, code: 'NETWORK' });
    await store.start(api, command, { prepare: () => Promise.reject(error) });
    expect(sent).toEqual([]);
    expect(store.state().failure).toMatchObject({ command, error });
  });

  test('is the only one until it has ended', async () => {
    const { api, sent, stream } = slowApi();
    const first = store.start(api, command);
    await store.start(api, { ...command, idempotencyKey: 'key-2' });
    (await stream).write(completed);
    await first;
    expect(sent).toHaveLength(1);
    expect(store.state().results).toHaveLength(1);
  });

  test('whose stream breaks is looked up, and its stored images are shown', async () => {
    const { api } = apiOf(() => streamOf(accepted), answered(stored('COMPLETED')));
    const seen = phases();
    await store.start(api, command);
    expect(seen).toContain('disconnected');
    expect(store.state().results[0]).toMatchObject({ requestId: 'req_1', outputs: answer.outputs });
  });

  test('that fails keeps its command, so that a repeat has the same body and key', async () => {
    const failed = event('failed', { error: 'It broke.', code: 'GENERATION_FAILED', status: 500 });
    const once: Script[] = [() => streamOf(accepted + failed), answered(stored('FAILED', 'It broke.'))];
    const { api, sent } = apiOf(...once, ...once);
    const errors: unknown[] = [];
    await store.start(api, command, { onFailed: (error) => errors.push(error) });
    const { failure, run } = store.state();
    expect(run).toBeNull();
    const message = 'It broke. Nothing was charged.';
    expect(failure?.error).toMatchObject({ code: 'GENERATION_FAILED', message, requestId: 'req_1' });
    expect(errors).toEqual([failure?.error]);
    await store.start(api, failure!.command);
    const posts = sent.filter(({ line }) => line.startsWith('POST'));
    const keys = posts.map(({ headers }) => headers.get('idempotency-key'));
    expect([posts.map(({ body }) => body), keys]).toEqual([
      [command.body, command.body],
      ['key-1', 'key-1'],
    ]);
  });

  test('that nobody waits for any more leaves its request’s id, and no result or failure', async () => {
    const { api } = slowApi();
    const isAccepted = Promise.withResolvers<void>();
    const run = store.start(api, command, { onChange: isAccepted.resolve });
    await isAccepted.promise;
    store.leave();
    expect(store.state()).toMatchObject({ run: null, left: { requestId: 'req_1' } });
    await run;
    expect(store.state()).toMatchObject({ results: [], failure: null });
  });

  test('that is answered a second time is listed once', async () => {
    const { api } = apiOf(wholeStream);
    await store.start(api, command);
    await store.start(api, command);
    expect(store.state().results).toHaveLength(1);
  });

  test('has its links renewed without losing what it was', async () => {
    const { api } = apiOf(wholeStream, answered({ outputs: ['new 0', 'new 1'] }));
    await store.start(api, command);
    expect(await store.renewLinks(api, 'req_1')).toEqual(['new 0', 'new 1']);
    expect(store.state().results[0]).toMatchObject({ outputs: ['new 0', 'new 1'], seed: 7 });
  });
});

describe('a refusal', () => {
  const refusal = (code: string, retryAfterSeconds?: number) =>
    new ApiError('A sentence.', { status: 429, code, retryAfterSeconds });

  test('for too many requests counts down to zero from when it came', () => {
    const failure = { command, error: refusal('RATE_LIMITED', 30), atMs: 1000 };
    expect(waitSeconds(failure, 1000)).toBe(30);
    expect(waitSeconds(failure, 1001)).toBe(30);
    expect(waitSeconds(failure, 30_500)).toBe(1);
    expect(waitSeconds(failure, 31_000)).toBe(0);
    expect(waitSeconds(failure, 99_000)).toBe(0);
  });

  test('for spent credits does not hold a smaller request back', () => {
    const error = refusal('CREDIT_LIMIT_EXCEEDED', 800_000);
    expect(waitSeconds({ command, error, atMs: 0 }, 0)).toBe(0);
    expect(mayRepeat(error)).toBe(false);
    expect(mayRepeat(refusal('RATE_LIMITED'))).toBe(true);
  });
});

describe('a result', () => {
  test('is announced in one sentence', () => {
    const facts = { creditsCharged: 1, body: command.body, references: [], waitedMs: 9000 };
    const result: Result = { ...told, ...facts };
    expect(readyText(result)).toBe('1 image is ready, made in 2.4 s.');
    const two = { ...result, outputs: ['a', 'b'], processingTimeMs: null };
    expect(readyText(two)).toBe('2 images are ready, made in 9 s.');
  });

  test('is labelled by its prompt in one short line, without cutting a character in two', () => {
    expect(shortPrompt('  a\n quiet   bay ')).toBe('a quiet bay');
    expect(shortPrompt('🌊'.repeat(100), 10)).toBe(`${'🌊'.repeat(9)}…`);
  });
});

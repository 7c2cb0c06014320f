import { beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../dashboard/src/api/api-error.ts';
import { createApi, type Api } from '../../../dashboard/src/api/client.ts';
import type { TabStorage } from '../../../dashboard/src/lib/drafts.ts';
import {
  factsOfBody,
  factsOfStored,
  failureText,
  readyText,
  stageText,
} from '../../../dashboard/src/screens/playground/results.ts';
import {
  createRunStore,
  mayGoOnAtMs,
  mayRepeat,
  type GenerationCommand,
} from '../../../dashboard/src/screens/playground/run-store.ts';
import { defaultValues } from '../../../dashboard/src/screens/playground/form-values.ts';
import { otherSettings, rememberSettings } from '../../../dashboard/src/screens/playground/last-used.ts';
import { answered, refused, scriptedFetch, type Script, type Sent } from '../../support/scripted-fetch.ts';
import { storedGeneration } from '../../support/stored-generation.ts';

const command: GenerationCommand = {
  body: { licenseId: 'lic_1', identityId: 'idn_1', prompt: 'a quiet bay', numOutputs: 2 },
  references: [],
  identityName: 'harbor',
  idempotencyKey: 'key-1',
};
const accepted = (requestId: string): Script =>
  answered({ requestId, status: 'QUEUED', creditsReserved: 2 }, { status: 202 });

function apiOf(...scripts: Script[]): { api: Api; sent: Sent[] } {
  const { fetch, sent } = scriptedFetch(...scripts);
  const token = async (): Promise<string> => 'token';
  const tokens = { accessToken: token, replaceToken: token, end: () => {} };
  return { api: createApi('https://api.test', tokens, fetch), sent };
}

let kept: Map<string, string>;
const storage = (): TabStorage => ({
  getItem: (key) => kept.get(key) ?? null,
  setItem: (key, value) => void kept.set(key, value),
});
let store: ReturnType<typeof createRunStore>;
beforeEach(() => {
  kept = new Map();
  store = createRunStore(storage, () => 1000);
});

describe('sending a run', () => {
  test('makes it the newest of this tab, with an address, and remembers what it was sent with', async () => {
    const acceptedIds: string[] = [];
    await store.start(apiOf(accepted('1')).api, command, { onAccepted: (id) => acceptedIds.push(id) });
    await store.start(apiOf(accepted('2')).api, command, { onAccepted: (id) => acceptedIds.push(id) });
    expect(acceptedIds).toEqual(['1', '2']);
    expect(store.state()).toMatchObject({ runs: ['2', '1'], shownId: '2', sending: null, failure: null });
    expect(store.sent('1')).toEqual({ command, startedAtMs: 1000 });
  });

  test('is one at a time, and the next may be sent while the first still runs', async () => {
    const { api, sent } = apiOf(accepted('1'), accepted('2'));
    const first = store.start(api, command);
    await store.start(api, { ...command, idempotencyKey: 'key-2' });
    expect(store.state().sending).toMatchObject({ phase: 'sending', idempotencyKey: 'key-1' });
    await first;
    expect(sent).toHaveLength(1);
    await store.start(api, { ...command, idempotencyKey: 'key-3' });
    expect(store.state().runs).toEqual(['2', '1']);
  });

  test('happens once its images are uploaded, with the ids of the uploads', async () => {
    const { api, sent } = apiOf(accepted('1'));
    const gate = Promise.withResolvers<GenerationCommand>();
    const run = store.start(api, command, { prepare: () => gate.promise });
    expect([store.state().sending?.phase, sent]).toEqual(['uploading', []]);
    const body = { ...command.body, referenceImages: [{ uploadId: 'upl_1' }] };
    gate.resolve({ ...command, body });
    await run;
    expect(sent.map((one) => one.body)).toEqual([body]);
    expect(store.sent('1')?.command.body).toEqual(body);
  });

  test('can be cancelled while its images are uploaded, and then sends nothing, however the uploads end', async () => {
    const { api, sent } = apiOf(accepted('1'));
    for (const end of ['resolve', 'reject'] as const) {
      const gate = Promise.withResolvers<GenerationCommand>();
      const run = store.start(api, command, { prepare: () => gate.promise });
      store.cancel();
      expect(store.state().sending).toBeNull();
      gate[end](command as any);
      await run;
    }
    expect(sent).toEqual([]);
    expect(store.state()).toMatchObject({ sending: null, failure: null, runs: [] });
  });

  test('can’t be cancelled once it is on its way', async () => {
    const run = store.start(apiOf(accepted('1')).api, command);
    store.cancel();
    expect(store.state().sending).toMatchObject({ phase: 'sending' });
    await run;
    expect(store.state().runs).toEqual(['1']);
  });

  test('that is refused keeps its command, so that a repeat has the same body and key', async () => {
    const { api, sent } = apiOf(refused(503, 'SERVICE_UNAVAILABLE'), accepted('1'));
    const errors: unknown[] = [];
    await store.start(api, command, { onRefused: (error) => errors.push(error) });
    const { failure, sending, runs } = store.state();
    expect([sending, runs]).toEqual([null, []]);
    expect(failure).toMatchObject({ command, atMs: 1000, error: { code: 'SERVICE_UNAVAILABLE' } });
    expect(errors).toEqual([failure?.error]);
    await store.start(api, failure!.command);
    expect(sent.map(({ headers }) => headers.get('idempotency-key'))).toEqual(['key-1', 'key-1']);
    expect(store.state()).toMatchObject({ failure: null, runs: ['1'] });
  });

  test('whose images can’t be uploaded fails with the reason and sends nothing', async () => {
    const { api, sent } = apiOf(accepted('1'));
    const error = new ApiError('cup.png could not be uploaded.', { status: 0, code: 'NETWORK' });
    await store.start(api, command, { prepare: () => Promise.reject(error) });
    expect([sent, store.state().failure?.error]).toEqual([[], error]);
  });
});

describe('the runs of a tab', () => {
  test('are there after a reload, without their prompts', async () => {
    await store.start(apiOf(accepted('1')).api, command);
    await store.start(apiOf(accepted('2')).api, command);
    store.show('1', false);
    const reloaded = createRunStore(storage);
    expect(reloaded.state()).toEqual({
      sending: null,
      failure: null,
      runs: ['2', '1'],
      shownId: '1',
      open: ['2', '1'],
    });
    expect([...kept.values()].join()).not.toContain('quiet');
  });

  test('are the newest twelve, each once, whatever is shown', () => {
    for (let i = 10; i < 30; i++) store.show(String(i), false);
    store.show('25', false);
    expect(store.state().runs).toEqual(Array.from({ length: 12 }, (_, i) => String(29 - i)));
    expect(store.state().shownId).toBe('25');
  });

  test('lose one that is not there any more', () => {
    store.show('1', true);
    store.show('2', true);
    store.drop('2');
    expect(createRunStore(storage).state()).toMatchObject({ runs: ['1'], shownId: null, open: ['1'] });
  });

  test('are followed until their end was seen, also by a page that is loaded after it', async () => {
    await store.start(apiOf(accepted('1')).api, command);
    await store.start(apiOf(accepted('2')).api, command);
    store.show('3', true);
    store.show('4', false);
    store.ended('2');
    expect(createRunStore(storage).state()).toMatchObject({ runs: ['4', '3', '2', '1'], open: ['3', '1'] });
  });

  test.each([
    '',
    'null',
    '[]',
    '{"runs": 7}',
    '{"runs": [null, "", 3], "shownId": {}}',
    '{"shownId": "", "open": [0]}',
  ])('are none when the storage holds %j, or nothing can be stored', (text) => {
    kept.set('runs', text);
    expect(createRunStore(storage).state()).toMatchObject({ runs: [], shownId: null, open: [] });
    const broken = createRunStore(() => {
      throw new Error('switched off');
    });
    broken.show('1', false);
    expect(broken.state().runs).toEqual(['1']);
  });
});

test.each([
  ['uploading', {}, 'Uploading your images'],
  ['sending', {}, 'Sending'],
  ['QUEUED', {}, 'Waiting for its turn'],
  ['QUEUED', { model: 'ready', modelReadyInSeconds: null }, 'Waiting for its turn'],
  [
    'QUEUED',
    { model: 'asleep', modelReadyInSeconds: null },
    'The model is starting. This may take a few minutes.',
  ],
  ['QUEUED', { model: 'waking' }, 'The model is starting. This may take a few minutes.'],
  ['QUEUED', { model: 'waking', modelReadyInSeconds: 0 }, 'The model is starting. A few seconds more.'],
  ['QUEUED', { model: 'waking', modelReadyInSeconds: 31 }, 'The model is starting. About 40 seconds.'],
  ['QUEUED', { model: 'waking', modelReadyInSeconds: 60 }, 'The model is starting. About 1 minute.'],
  ['QUEUED', { model: 'waking', modelReadyInSeconds: 300 }, 'The model is starting. About 5 minutes.'],
  ['QUEUED', { model: 'unavailable' }, 'The model can’t be reached now. Waiting for it'],
  ['PROCESSING', { model: 'waking', modelReadyInSeconds: 300 }, 'The image is being made'],
] as const)('a run that is %s while the model is %j says %j', (stage, health, said) => {
  expect(stageText(stage, health)).toBe(said);
});

describe('a refusal', () => {
  const refusal = (code: string, retryAfterSeconds?: number) =>
    new ApiError('A sentence.', { status: 429, code, retryAfterSeconds });

  test('for too many requests holds the next one back, from when it came', () => {
    expect(mayGoOnAtMs({ command, error: refusal('RATE_LIMITED', 30), atMs: 1000 })).toBe(31_000);
    expect(mayGoOnAtMs(null)).toBe(0);
  });

  test('for spent credits does not hold a smaller request back', () => {
    const error = refusal('CREDIT_LIMIT_EXCEEDED', 800_000);
    expect(mayGoOnAtMs({ command, error, atMs: 5 })).toBe(0);
    expect(mayRepeat(error)).toBe(false);
    expect(mayRepeat(refusal('RATE_LIMITED'))).toBe(true);
  });
});

describe('a result', () => {
  test('is announced in one sentence', () => {
    expect(readyText({ outputs: ['a'], processingTimeMs: 2400 })).toBe('1 image is ready, made in 2.4 s.');
    expect(readyText({ outputs: ['a', 'b'], processingTimeMs: null })).toBe('2 images are ready.');
  });

  test('that is none says why, and that nothing was charged', () => {
    const failed = { ...storedGeneration, status: 'FAILED', errorMessage: null } as const;
    expect(failureText(failed)).toBe('The image could not be finished. Nothing was charged.');
    expect(failureText({ ...failed, errorMessage: 'It broke.' })).toBe('It broke. Nothing was charged.');
    expect(failureText({ ...failed, status: 'TIMEOUT' })).toMatch(/not finished in time\. Nothing/);
  });

  test('has the same facts before and after it is stored', () => {
    const body = { ...command.body, prompt: 'a calm night', width: 1024, height: 768 };
    expect(factsOfBody(body, 'harbor', 5)).toEqual(factsOfStored(storedGeneration, 5));
    expect(factsOfStored(storedGeneration).startedAtMs).toBe(Date.parse(storedGeneration.createdAt));
  });
});

describe('the settings that an identity was used with last', () => {
  const body = {
    ...command.body,
    width: 1216,
    height: 832,
    numInferenceSteps: 40,
    guidanceScale: 9,
    seed: 7,
  };
  const used = {
    width: '1216',
    height: '832',
    numOutputs: 2,
    outputFormat: 'png',
    steps: '40',
    guidance: '9',
  } as const;

  test('are offered for that identity alone, where the form has others, without prompt and seed', () => {
    rememberSettings(body, storage);
    expect(otherSettings({ ...defaultValues, identityId: 'idn_1' }, storage)).toEqual(used);
    expect(otherSettings({ ...defaultValues, identityId: 'idn_1', ...used }, storage)).toBeNull();
    expect(otherSettings({ ...defaultValues, identityId: 'idn_2' }, storage)).toBeNull();
    expect(otherSettings({ ...defaultValues, identityId: 'toString' }, storage)).toBeNull();
    expect([...kept.values()].join()).not.toContain('quiet');
  });

  test.each(['', 'null', '[]', '{"idn_1": 3}', '{"idn_1": {"width": 3}}'])(
    'are none where %j is kept',
    (text) => {
      kept.set('last-used', text);
      expect(otherSettings({ ...defaultValues, identityId: 'idn_1' }, storage)).toBeNull();
    },
  );
});

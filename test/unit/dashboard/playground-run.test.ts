import { beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../dashboard/src/api/api-error.ts';
import { createApi, type Api } from '../../../dashboard/src/api/client.ts';
import type { TabStorage } from '../../../dashboard/src/lib/drafts.ts';
import {
  factsOfBody,
  factsOfStored,
  failureText,
  stageText,
  startText,
} from '../../../dashboard/src/screens/playground/results.ts';
import { createPairStore } from '../../../dashboard/src/screens/playground/pairs.ts';
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
  test('is one at a time, and the next may be sent while the first still runs; each gets an address', async () => {
    const { api, sent } = apiOf(accepted('1'), accepted('2'));
    const acceptedIds: string[] = [];
    const onAccepted = (id: string) => acceptedIds.push(id);
    const first = store.start(api, command, { onAccepted });
    await store.start(api, { ...command, idempotencyKey: 'key-2' }, { onAccepted });
    // Nor is one cancelled that is on its way.
    store.cancel();
    expect(store.state().sending).toMatchObject({ phase: 'sending', idempotencyKey: 'key-1' });
    await first;
    expect(sent).toHaveLength(1);
    await store.start(api, { ...command, idempotencyKey: 'key-3' }, { onAccepted });
    expect(acceptedIds).toEqual(['1', '2']);
    expect(store.state()).toMatchObject({ runs: ['2', '1'], shownId: '2', sending: null, failure: null });
    expect(store.sent('1')).toEqual({ command, startedAtMs: 1000 });
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

  test('that is refused keeps its command, for a repeat with the same body and key', async () => {
    const error = new ApiError('Refused.', { status: 503, code: 'SERVICE_UNAVAILABLE' });
    const errors: unknown[] = [];
    const { api, sent } = apiOf(refused(503, 'SERVICE_UNAVAILABLE'), accepted('1'));
    await store.start(api, command, { onRefused: (thrown) => errors.push(thrown) });
    const { failure, sending, runs } = store.state();
    expect([sending, runs]).toEqual([null, []]);
    expect(failure).toMatchObject({ command, atMs: 1000, error: { code: 'SERVICE_UNAVAILABLE' } });
    expect(errors).toEqual([failure?.error]);
    expect(await store.start(api, failure!.command)).toBe('1');
    expect(store.state()).toMatchObject({ failure: null, runs: ['1'] });
    // Where its images can't be uploaded, nothing is sent.
    await store.start(api, command, { prepare: () => Promise.reject(error) });
    expect([sent.length, store.state().failure?.error]).toEqual([2, error]);
  });
});

describe('the runs of a tab', () => {
  test('are there after a reload, without their prompts, and followed until their end was seen', async () => {
    await store.start(apiOf(accepted('1')).api, command);
    await store.start(apiOf(accepted('2')).api, command);
    store.show('3', true);
    store.show('1', false);
    store.ended('2');
    const tab = { runs: ['3', '2', '1'], shownId: '1', open: ['3', '1'] };
    expect(createRunStore(storage).state()).toEqual({ sending: null, failure: null, ...tab });
    expect([...kept.values()].join()).not.toContain('quiet');
    store.drop('1');
    expect(createRunStore(storage).state()).toMatchObject({ runs: ['3', '2'], shownId: null, open: ['3'] });
  });

  test('are the newest twelve, each once, whatever is shown', () => {
    for (let i = 10; i < 30; i++) store.show(String(i), false);
    store.show('25', false);
    expect(store.state().runs).toEqual(Array.from({ length: 12 }, (_, i) => String(29 - i)));
    expect(store.state().shownId).toBe('25');
  });

  test.each(['null', '{"runs": 7}', '{"runs": [null, "", 3], "shownId": {}, "open": [0]}'])(
    'are none when the storage holds %j',
    (text) => {
      kept.set('runs', text);
      expect(createRunStore(storage).state()).toMatchObject({ runs: [], shownId: null, open: [] });
    },
  );

  test('are there as long as the page where nothing can be stored', () => {
    const blocked = createRunStore(() => {
      throw new Error('switched off');
    });
    blocked.show('1', false);
    expect(blocked.state().runs).toEqual(['1']);
  });
});

test.each<[number | null, string]>([
  [null, 'This may take a few minutes.'],
  [0, 'A few seconds more.'],
  [31, 'About 40 seconds.'],
  [60, 'About 1 minute.'],
  [300, 'About 5 minutes.'],
])('a run that waits for a model that is ready in %j seconds says: %s', (modelReadyInSeconds, said) => {
  const health = { model: 'waking', modelReadyInSeconds } as const;
  expect(stageText('QUEUED', health)).toBe(`The model is starting. ${said}`);
  expect(stageText('PROCESSING', health)).toBe('The image is being made');
  const before = said.replace('This', 'it').toLowerCase();
  expect(startText({ ...health, model: 'asleep' })).toBe(`The model starts first: ${before}`);
});

test.each([
  ['asleep', /^The model is starting/],
  ['unavailable', /^The model can’t be reached now/],
  ['ready', /^Waiting for its turn/],
] as const)('a run that waits while the model is %s says so', (model, said) =>
  expect(stageText('QUEUED', { model, modelReadyInSeconds: null })).toMatch(said),
);

test.each([
  ['too many requests holds the next one back, from when it came', 'RATE_LIMITED', 31_000, true],
  ['spent credits does not hold a smaller request back', 'CREDIT_LIMIT_EXCEEDED', 0, false],
])('a refusal for %s', (_, code, goesOnAtMs, mayBeRepeated) => {
  const error = new ApiError('A sentence.', { status: 429, code, retryAfterSeconds: 30 });
  expect(mayGoOnAtMs({ command, error, atMs: 1000 })).toBe(goesOnAtMs);
  expect(mayRepeat(error)).toBe(mayBeRepeated);
});

test('a result that is none says why, and that nothing was charged', () => {
  const failed = { ...storedGeneration, status: 'FAILED', errorMessage: null } as const;
  expect(failureText(failed)).toBe('The image could not be finished. Nothing was charged.');
  expect(failureText({ ...failed, status: 'TIMEOUT' })).toMatch(/not finished in time\. Nothing/);
});

test('a result has the same facts before and after it is stored', () => {
  const body = { ...command.body, identityVersion: 1, prompt: 'a calm night', width: 1024, height: 768 };
  expect(factsOfBody(body, 'harbor', 5)).toEqual(factsOfStored(storedGeneration, 5));
  expect(factsOfStored(storedGeneration).startedAtMs).toBe(Date.parse(storedGeneration.createdAt));
});

test('the last settings of an identity are offered for it alone, where the form has others, without prompt and seed', () => {
  const size = { width: 1216, height: 832 };
  const others = { numOutputs: 2, outputFormat: 'png', steps: '40', guidance: '9' } as const;
  const used = { width: '1216', height: '832', ...others };
  const offered = (form: object) => otherSettings({ ...defaultValues, ...form }, storage);
  rememberSettings({ ...command.body, ...size, numInferenceSteps: 40, guidanceScale: 9, seed: 7 }, storage);
  expect(offered({ identityId: 'idn_1' })).toEqual(used);
  for (const form of [
    { identityId: 'idn_1', ...used },
    { identityId: 'idn_2' },
    { identityId: 'toString' },
  ]) {
    expect(offered(form)).toBeNull();
  }
  expect([...kept.values()].join()).not.toContain('quiet');
  for (const text of ['[]', '{"idn_1": 3}', '{"idn_1": {"width": 3}}']) {
    kept.set('last-used', text);
    expect(offered({ identityId: 'idn_1' })).toBeNull();
  }
});

test('a pair is the same one after its images are uploaded, and another one with another seed, image or version', () => {
  const pairs = createPairStore();
  const image = { id: 'image-1', kind: 'url', url: 'https://shop.example/cup.jpg', problem: null } as const;
  const pair = { body: { ...command.body, seed: 7 }, references: [image], otherVersion: 2 };
  const begun = pairs.begin(pair);
  pairs.acceptFirst(begun, 'req-1');
  const referenceImages = [{ uploadId: 'upl_1' }];
  const body = { seed: 7, ...command.body, referenceImages };
  const uploaded = { ...pair, body, references: [{ ...image, problem: 'Too slow.' }] };
  expect(pairs.firstId(uploaded)).toBe('req-1');
  expect(pairs.begin(uploaded).keys).toBe(begun.keys);
  const others = [{ body: { ...body, seed: 8 } }, { references: [] }, { otherVersion: 1 }];
  expect(others.map((other) => pairs.firstId({ ...pair, ...other }))).toEqual([null, null, null]);
  expect(pairs.withKey(begun.keys[1])?.firstId).toBe('req-1');
  pairs.end(begun);
  expect(pairs.firstId(pair)).toBeNull();
});

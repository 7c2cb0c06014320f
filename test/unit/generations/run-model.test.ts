import { describe, expect, test } from '@jest/globals';
import type { ModelEvent } from '../../../shared/model/contract.ts';
import { plainVersion } from '../../../shared/identities/version.ts';
import { tenantOf } from '../../../shared/model/tenant.ts';
import { ServiceError } from '../../../shared/base/errors.ts';
import { runErrorCode, runModel } from '../../../shared/generations/run-model.ts';
import {
  completed,
  identity,
  namedLinks,
  output,
  queued,
  saying,
  scriptedModel,
  standingClock,
} from './fixture.ts';

/** Runs a generation of two images, of 11 and 12 bytes, with a model that says this. */
async function run(
  say: (signal: AbortSignal) => AsyncIterable<ModelEvent>,
  {
    generation = queued(),
    sizes = [11, 12] as (number | null)[],
    previewSizes = [] as (number | null)[],
    objects = namedLinks(sizes, previewSizes),
    clock = standingClock(),
    stopping = new AbortController(),
    started = () => Promise.resolve(),
    of = identity,
    embedParameters = false,
  } = {},
) {
  const { asked, model } = scriptedModel(say);
  const noted: string[] = [];
  const events = {
    queued: (position: number, etaSeconds: number) => void noted.push(`${position}. in ${etaSeconds} s`),
    started() {
      noted.push('started');
      return started();
    },
    progress: (step: number, steps: number) => void noted.push(`${step} of ${steps}`),
  };
  const deps = { model, objects, clock, stopping: stopping.signal, embedParameters };
  const result: any = await runModel(generation, of, events, deps).catch((error: unknown) => error);
  return { result, asked, noted, clock };
}

const done = completed(output(11), output(12));
const generated = { ...done, previews: [false, false] };
const failed = (reason: string, message = ''): ModelEvent => ({ event: 'failed', reason, message });
const progress = (step: number): ModelEvent => ({ event: 'progress', step, steps: 9 });
const tooLate = { code: 'TIMEOUT', message: 'The image was not finished within 120 seconds.' };

describe('a model is asked', () => {
  test('for all of the request, with links that outlive its deadline by a minute', async () => {
    const changes = { negativePrompt: 'fog', outputFormat: 'webp', preserveBranding: true } as const;
    const generation = queued({ referenceImages: 2, ...changes });
    const { asked } = await run(saying(done), { generation });
    expect(asked).toEqual([
      {
        requestId: 'r1',
        deadline: new Date(generation.deadlineMs).toISOString(),
        tenant: tenantOf('lic_1'),
        prompt: 'a lighthouse',
        negativePrompt: 'fog',
        seed: 5,
        numInferenceSteps: 30,
        guidanceScale: 7.5,
        width: 1024,
        height: 1024,
        numOutputs: 2,
        outputFormat: 'webp',
        embedParameters: false,
        referenceMode: 'reference',
        preserveBranding: true,
        references: [{ url: 'see r1/0 for 180' }, { url: 'see r1/1 for 180' }],
        identity: {
          id: 'idn_1',
          adapterUrl: null,
          adapterVersion: 'version:1',
          version: 1,
          adapterSha256: null,
          settings: {},
        },
        outputs: [
          { putUrl: 'put r1/0 for 180', previewPutUrl: 'put preview r1/0 for 180' },
          { putUrl: 'put r1/1 for 180', previewPutUrl: 'put preview r1/1 for 180' },
        ],
        cancelUrl: 'ask r1 for 180',
      },
    ]);
  });

  test('with the weights of its identity, and for files that hold the prompt, where there are such', async () => {
    const weights = { adapterSha256: 'f0', settings: { scale: 1 } };
    const of = { ...identity, model: { ...plainVersion, number: 7, adapterKey: 'adapters/a', ...weights } };
    const { asked } = await run(saying(done), { of, embedParameters: true });
    const adapter = { adapterUrl: 'load adapters/a for 180', adapterVersion: 'version:7', version: 7 };
    expect(asked[0]).toMatchObject({
      embedParameters: true,
      identity: { id: 'idn_1', ...adapter, ...weights },
    });
  });

  test('for what is left of its time, in started seconds, and not when none is', async () => {
    const clock = standingClock();
    clock.nowMs += 118_999;
    const late = await run(saying(done), { clock });
    expect(clock.waitedMs).toBe(1001);
    expect(late.asked[0]!.outputs[0]!.putUrl).toBe('put r1/0 for 62');
    clock.nowMs += 1001;
    const over = await run(saying(done), { clock });
    expect(over).toMatchObject({ result: tooLate, asked: [], noted: [] });
    clock.nowMs -= 1;
    expect((await run(saying(done), { clock })).result).toEqual(generated);
  });
});

describe('a run', () => {
  const start: ModelEvent = { event: 'started' };
  const place = (position: number, etaSeconds: number): ModelEvent => ({
    event: 'queued',
    position,
    etaSeconds,
  });
  const ready: ModelEvent = { event: 'ready', modelVersion: 'v' };

  test.each<[string, ModelEvent[], string[]]>([
    ['its beginning once, and each step', [start, start, progress(1), done], ['started', '1 of 9']],
    ['its beginning before all else', [progress(1), done], ['started', '1 of 9']],
    ['its beginning where it only completes', [done], ['started']],
    ['its beginning where it fails then', [start, failed('busy')], ['started']],
    ['no beginning of what never began', [ready, failed('busy')], []],
    [
      'each place in the queue, until it has started',
      [place(3, 20), place(2, 11), start, place(1, 0), done],
      ['3. in 20 s', '2. in 11 s', 'started'],
    ],
    ['no place once there was progress', [progress(1), place(1, 0), done], ['started', '1 of 9']],
  ])('reports %s', async (_what, events, noted) => {
    const { result, ...rest } = await run(saying(...events));
    expect(rest.noted).toEqual(noted);
    if (events.includes(done)) expect(result).toEqual(generated);
  });

  test('waits for its beginning to be stored, and fails where it can not be', async () => {
    const order: string[] = [];
    const slow = () =>
      new Promise<void>((resolve) => setTimeout(resolve, 5)).then(() => void order.push('stored'));
    const { result } = await run(saying(start, done), { started: slow });
    expect([result, order]).toEqual([generated, ['stored']]);
    for (const next of [done, progress(1)]) {
      const started = () => Promise.reject(new Error('not stored'));
      const broken = await run(saying(start, next), { started });
      expect(broken).toMatchObject({ result: { message: 'not stored' }, noted: ['started'] });
    }
  });

  test('that ends without a closing event has failed', async () => {
    const said = { code: 'GENERATION_FAILED', message: 'The model stopped before it had finished.' };
    expect((await run(saying())).result).toMatchObject(said);
    expect((await run(saying(start))).result).toMatchObject(said);
  });

  test.each<[string, ModelEvent, (number | null)[]]>([
    ['too few', completed(output(11)), [11]],
    ['too many', completed(output(11), output(12), output(13)), [11, 12, 13]],
    ['one of another width', completed(output(11), output(12, 1088)), [11, 12]],
    ['one of another height', completed(output(11, 1024, 960), output(12)), [11, 12]],
    ['one of another size in bytes', done, [11, 13]],
    ['one that is not there', done, [null, 12]],
  ])('whose images are %s has failed', async (_what, event, sizes) => {
    expect((await run(saying(event), { sizes })).result).toMatchObject({
      code: 'GENERATION_FAILED',
      message: 'The model did not deliver the images that were asked for.',
    });
  });
});

describe('a preview', () => {
  const first = { ...output(11), previewBytes: 7 };
  const withPreviews = (second: { previewBytes?: number | null }) =>
    saying(completed(first, { ...output(12), ...second }));

  test.each([
    ['that the model put there whole counts', { previewBytes: 60_000 }, 60_000, true],
    ['of which the model says nothing is left out', {}, 8, false],
    ['that the model has not put is left out', { previewBytes: null }, 8, false],
    ['that is larger than a preview may be is left out', { previewBytes: 60_001 }, 60_001, false],
    ['that is not there is left out', { previewBytes: 8 }, null, false],
    ['of another size than the model said is left out', { previewBytes: 8 }, 9, false],
  ])('%s, and its image counts', async (_what, second, size, counts) => {
    const { result } = await run(withPreviews(second), { previewSizes: [7, size] });
    expect([result.previews, result.outputs.length]).toEqual([[true, counts], 2]);
  });

  test('is left out where the store fails, or has not answered in two seconds', async () => {
    const objects = namedLinks([11, 12]);
    const signals: AbortSignal[] = [];
    objects.previewSize = (_of, _index, signal) =>
      signals.push(signal) === 1 ? Promise.reject(new Error('no answer')) : Promise.resolve(null);
    const { result, clock } = await run(withPreviews({ previewBytes: 8 }), { objects });
    expect(result.previews).toEqual([false, false]);
    clock.deadline.abort();
    expect([clock.waitedMs, signals.map(({ aborted }) => aborted)]).toEqual([2000, [true, true]]);
  });
});

describe('when a model says why it failed, the customer reads', () => {
  test.each([
    [
      'busy',
      'SERVICE_UNAVAILABLE',
      'The models are too busy for this request. Try again shortly, or ask for fewer or smaller images.',
    ],
    ['reference_unreadable', 'GENERATION_FAILED', 'The model could not read a reference image.'],
    ['reference_invalid', 'GENERATION_FAILED', 'The model could not read a reference image.'],
    ['upload_failed', 'GENERATION_FAILED', 'The model could not finish the image.'],
    ['deadline', tooLate.code, tooLate.message],
    ['unavailable', 'SERVICE_UNAVAILABLE', 'Image generation is not available right now. Try again shortly.'],
  ])('of %s: %s, %s', async (reason, code, said) => {
    const { result } = await run(saying(failed(reason, 'Secret.')));
    const cause = reason === 'deadline' ? undefined : `model server: failed: ${reason}: Secret.`;
    expect([result.code, result.message, result.cause?.message]).toEqual([code, said, cause]);
    expect(result.noFault).toBe(reason === 'busy');
  });

  test('of a reference image that can not be decoded which one it is, unless the request has no such image', async () => {
    const generation = queued({ referenceImages: 2 });
    const said = async (reference: number, reason: string = 'reference_invalid') => {
      const event = { ...failed(reason, 'Secret.'), reference } as ModelEvent;
      return (await run(saying(event), { generation })).result;
    };
    expect(await said(1)).toMatchObject({
      code: 'INVALID_PARAMETERS',
      message:
        'referenceImages[1]: must be an undamaged image that shows something: the model could not read it.',
      cause: { message: 'model server: failed: reference_invalid: Secret.' },
    });
    expect((await said(2)).code).toBe('GENERATION_FAILED');
    expect((await said(1, 'model_error')).code).toBe('GENERATION_FAILED');
  });

  test.each<[object, string, string[]]>([
    [
      { categories: ['Violence', 'self harm', 'a rule: /x.*y/'] },
      'The image was refused for violence, self-harm. Change',
      ['violence', 'self-harm'],
    ],
    [{}, 'The image was refused for its content. Change', []],
    [
      { categories: ['violence'], reference: 1 },
      'referenceImages[1] was refused for violence. Use',
      ['violence'],
    ],
    [{ categories: ['violence'], reference: 2 }, 'The image was refused for violence. Change', ['violence']],
  ])(
    'of refused content %j: %s …, uncharged, and no word of the container',
    async (about, said, categories) => {
      const event = { ...failed('content_refused', 'Secret.'), ...about } as ModelEvent;
      const { result } = await run(saying(event), { generation: queued({ referenceImages: 2 }) });
      expect(result).toMatchObject({ code: 'CONTENT_REFUSED', categories, unpaid: 'refused', noFault: true });
      expect(result.message.startsWith(said)).toBe(true);
      expect(result.cause).toBeUndefined();
    },
  );

  test.each([
    ['CUDA out of memory: 512 MiB', 'CUDA out of memory: 512 MiB'],
    ['  x\ty\n', '  x y '],
    ['x '.repeat(400), 'x '.repeat(150)],
    ['GET https://s3/k?X-Amz-Signature=1 and http://s3/k failed', 'GET   and   failed'],
    [`token ${'k'.repeat(40)} is bad`, 'token   is bad'],
    ['no "A Lighthouse, in fog" here', 'no "~ ~, ~ ~" here'],
    ['cut: a lighth', 'cut: ~ ~'],
    ['{"p":"\\nlighthouse"}', '{"p":"\\~"}'],
    ['prompt=лес', 'prompt= '],
  ])('nothing of its own words: %j is %j in the log', async (message, logged) => {
    const generation = queued({ prompt: 'a lighthouse in fog', negativePrompt: 'лес' });
    for (const reason of ['model_error', 'whatever']) {
      const { result } = await run(saying(failed(reason, message)), { generation });
      expect([result.code, result.message]).toEqual([
        'GENERATION_FAILED',
        'The model could not finish the image.',
      ]);
      expect(result.cause.message).toBe(`model server: failed: model_error: ${logged}`);
    }
  });
});

describe('a deadline counts for the license where the model began early and is still at work, not', () => {
  /** At these parts of the whole time. */
  const at = (began: number, steps: [at: number, step: number][], called: number) => {
    const clock = standingClock();
    const { createdAtMs, deadlineMs } = queued();
    const become = (part: number) => void (clock.nowMs = createdAtMs + part * (deadlineMs - createdAtMs));
    const say = async function* (): AsyncGenerator<ModelEvent> {
      become(began);
      yield { event: 'started' };
      for (const [part, step] of steps) {
        become(part);
        yield { event: 'progress', step, steps: 30 };
      }
      become(1);
      yield failed('deadline', '');
    };
    become(called);
    return run(say, { clock });
  };
  test.each<[string, string | undefined, began: number, [number, number][], called?: number]>([
    ['where it does', 'deadline', 0.5, [[0.9, 29]]],
    ['where it waited for longer', undefined, 0.51, [[0.9, 29]]],
    [
      'where it hangs and says so again and again',
      undefined,
      0.1,
      [
        [0.4, 10],
        [0.6, 10],
        [0.9, 10],
      ],
    ],
    [
      'where only the images are not stored yet',
      undefined,
      0.1,
      [
        [0.6, 29],
        [0.7, 30],
      ],
    ],
    ['where it said nothing', undefined, 0.1, []],
    ['where it was busy for most of the time', undefined, 0.8, [[0.95, 10]], 0.8],
  ])('%s', async (_where, unpaid, began, steps, called = 0) => {
    const { result } = await at(began, steps, called);
    expect([result.code, result.unpaid]).toEqual(['TIMEOUT', unpaid]);
  });
});

test('a deadline is no fault where the request stood in line until then, and is one where the model began or said nothing', async () => {
  const waits: ModelEvent = { event: 'queued', position: 2, etaSeconds: 9 };
  const ended = async (...events: ModelEvent[]) =>
    (await run(saying(...events, failed('deadline')))).result as ServiceError;
  expect(await ended(waits, waits)).toMatchObject({ code: 'TIMEOUT', noFault: true, inLine: true });
  for (const error of [await ended(), await ended(waits, { event: 'started' })])
    expect(error).toMatchObject({ code: 'TIMEOUT', noFault: false, inLine: false });
});

describe('a run that breaks off', () => {
  const hangUp = async function* (): AsyncGenerator<ModelEvent> {
    yield { event: 'started' };
    throw new Error('socket hang up');
  };
  const stopped = {
    code: 'SERVICE_UNAVAILABLE',
    message: 'The service was stopped before the image was finished.',
  };

  test.each([
    ['by itself keeps its error', hangUp, null, { message: 'socket hang up' }],
    ['at its deadline is a TIMEOUT', hangUp, 'deadline', tooLate],
    ['because the service is stopped is SERVICE_UNAVAILABLE', hangUp, 'stopping', stopped],
    [
      'for a reason of its own keeps it after the deadline, too',
      saying(failed('busy')),
      'deadline',
      { code: 'SERVICE_UNAVAILABLE' },
    ],
  ] as const)('%s', async (_what, say, aborted, expected) => {
    const clock = standingClock();
    const stopping = new AbortController();
    if (aborted !== null) (aborted === 'deadline' ? clock.deadline : stopping).abort();
    expect((await run(say, { clock, stopping })).result).toMatchObject(expected);
  });

  test.each(['deadline', 'stopping'] as const)("is the model's to end, too, at its %s", async (which) => {
    const clock = standingClock();
    const stopping = new AbortController();
    let signal: AbortSignal | undefined;
    const listen = (given: AbortSignal) => {
      signal = given;
      return saying(done)();
    };
    await run(listen, { clock, stopping });
    expect(signal!.aborted).toBe(false);
    (which === 'deadline' ? clock.deadline : stopping).abort();
    expect(signal!.aborted).toBe(true);
  });
});

test.each([
  [new ServiceError('TIMEOUT', ''), 'TIMEOUT'],
  [new ServiceError('INVALID_PARAMETERS', ''), 'INVALID_PARAMETERS'],
  [new ServiceError('CONTENT_REFUSED', ''), 'CONTENT_REFUSED'],
  [new ServiceError('TIER_LIMIT', ''), 'GENERATION_FAILED'],
  [new Error('TIMEOUT'), 'GENERATION_FAILED'],
])('%s is stored as %s', (error, code) => expect(runErrorCode(error)).toBe(code));

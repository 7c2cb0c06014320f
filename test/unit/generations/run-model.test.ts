import { describe, expect, test } from '@jest/globals';
import type { ModelEvent } from '../../../shared/model/contract.ts';
import type { Generation } from '../../../shared/generations/generation.ts';
import { tenantOf } from '../../../shared/model/tenant.ts';
import { ServiceError } from '../../../shared/base/errors.ts';
import { runErrorCode, runModel } from '../../../shared/generations/run-model.ts';
import {
  completed,
  identity,
  linkTeller,
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
    clock = standingClock(),
    stopping = new AbortController(),
    started = () => Promise.resolve(),
    of = identity,
    embedParameters = false,
  } = {},
) {
  const { asked, model } = scriptedModel(say);
  const told: string[] = [];
  const events = {
    queued: (position: number, etaSeconds: number) => void told.push(`${position}. in ${etaSeconds} s`),
    started() {
      told.push('started');
      return started();
    },
    progress: (step: number, steps: number) => void told.push(`${step} of ${steps}`),
  };
  const objects = linkTeller(sizes);
  const deps = { model, objects, clock, stopping: stopping.signal, embedParameters };
  const result: any = await runModel(generation, of, events, deps).catch((error: unknown) => error);
  return { result, asked, told, clock };
}

const done = completed(output(11), output(12));
const painted = { ...done, previews: [false, false] };
const failed = (reason: string, message = ''): ModelEvent => ({ event: 'failed', reason, message });

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
        identity: { id: 'idn_1', adapterUrl: null, adapterVersion: '1', adapterSha256: null, settings: {} },
        outputs: [
          { putUrl: 'put r1/0 for 180', previewPutUrl: 'put preview r1/0 for 180' },
          { putUrl: 'put r1/1 for 180', previewPutUrl: 'put preview r1/1 for 180' },
        ],
      },
    ]);
  });

  test('for files that tell the prompt only where the deployment wants it', async () => {
    const { asked } = await run(saying(done), { embedParameters: true });
    expect(asked[0]!.embedParameters).toBe(true);
  });

  test('with the weights of its identity, where that has some', async () => {
    const weights = { adapterSha256: 'f0', settings: { scale: 1 } };
    const of = { ...identity, model: { version: '7', adapterKey: 'adapters/a', ...weights } };
    const { asked } = await run(saying(done), { of });
    const adapter = { adapterUrl: 'load adapters/a for 180', adapterVersion: '7' };
    expect(asked[0]!.identity).toEqual({ id: 'idn_1', ...adapter, ...weights });
  });

  test('for what is left of its time, in started seconds, and not when none is', async () => {
    const clock = standingClock();
    clock.nowMs += 118_999;
    const late = await run(saying(done), { clock });
    expect(clock.waitedMs).toBe(1001);
    expect(late.asked[0]!.outputs[0]!.putUrl).toBe('put r1/0 for 62');
    clock.nowMs += 1001;
    const over = await run(saying(done), { clock });
    expect(over.result).toMatchObject({
      code: 'TIMEOUT',
      message: 'The image was not finished within 120 seconds.',
    });
    expect([over.asked, over.told]).toEqual([[], []]);
    clock.nowMs -= 1;
    expect((await run(saying(done), { clock })).result).toEqual(painted);
  });
});

describe('a run', () => {
  test('answers what the model reported', async () => {
    expect((await run(saying({ event: 'started' }, done))).result).toEqual(painted);
  });

  test('tells that it began once, before all else, and each step', async () => {
    const progress = (step: number): ModelEvent => ({ event: 'progress', step, steps: 9 });
    const all = await run(saying({ event: 'started' }, { event: 'started' }, progress(1), progress(2), done));
    expect(all.told).toEqual(['started', '1 of 9', '2 of 9']);
    expect((await run(saying(progress(1), done))).told).toEqual(['started', '1 of 9']);
    expect((await run(saying(done))).told).toEqual(['started']);
    expect((await run(saying({ event: 'started' }, failed('busy')))).told).toEqual(['started']);
    expect((await run(saying({ event: 'ready', modelVersion: 'v' }, failed('busy')))).told).toEqual([]);
  });

  test('tells each place in the line, until it has started', async () => {
    const place = (position: number, etaSeconds: number): ModelEvent => ({
      event: 'queued',
      position,
      etaSeconds,
    });
    const whole = saying(place(3, 20), place(2, 11), { event: 'started' }, place(1, 0), done);
    expect(await run(whole)).toMatchObject({
      result: painted,
      told: ['3. in 20 s', '2. in 11 s', 'started'],
    });
    expect((await run(saying(place(2, 0), failed('busy')))).told).toEqual(['2. in 0 s']);
    const late: ModelEvent[] = [{ event: 'progress', step: 1, steps: 9 }, place(1, 0), done];
    expect((await run(saying(...late))).told).toEqual(['started', '1 of 9']);
  });

  test('waits for its beginning to be stored, and fails where it can not be', async () => {
    const order: string[] = [];
    const slow = () =>
      new Promise<void>((resolve) => setTimeout(resolve, 5)).then(() => void order.push('stored'));
    const { result } = await run(saying({ event: 'started' }, done), { started: slow });
    expect([result, order]).toEqual([painted, ['stored']]);
    for (const events of [[done], [{ event: 'progress', step: 1, steps: 2 }] as ModelEvent[]]) {
      const broken = await run(saying({ event: 'started' }, ...events), {
        started: () => Promise.reject(new Error('not stored')),
      });
      expect(broken.result).toMatchObject({ message: 'not stored' });
      expect(broken.told).toEqual(['started']);
    }
  });

  test('that ends without a closing event has failed', async () => {
    const said = { code: 'GENERATION_FAILED', message: 'The model stopped before it had finished.' };
    expect((await run(saying())).result).toMatchObject(said);
    expect((await run(saying({ event: 'started' }))).result).toMatchObject(said);
  });

  test.each<[string, ModelEvent, (number | null)[], Partial<Generation>]>([
    ['too few', completed(output(11)), [11], {}],
    ['too many', completed(output(11), output(12), output(13)), [11, 12, 13], {}],
    ['one of another width', completed(output(11), output(12, 1088)), [11, 12], {}],
    ['one of another height', completed(output(11, 1024, 960), output(12)), [11, 12], {}],
    ['one of another size in bytes', done, [11, 13], {}],
    ['one that is not there', done, [null, 12], {}],
  ])('whose images are %s has failed', async (_what, event, sizes) => {
    expect((await run(saying(event), { sizes })).result).toMatchObject({
      code: 'GENERATION_FAILED',
      message: 'The model did not deliver the images that were asked for.',
    });
  });
});

describe('when a model says why it failed, the customer reads', () => {
  const sentence = async (reason: string, message = 'Secret.') => {
    const { result } = await run(saying(failed(reason, message)));
    return [result.code, result.message, result.cause?.message];
  };

  test.each([
    [
      'busy',
      'SERVICE_UNAVAILABLE',
      'The models are too busy for this request. Try again shortly, or ask for fewer or smaller images.',
    ],
    ['reference_unreadable', 'GENERATION_FAILED', 'The model could not read a reference image.'],
    ['reference_invalid', 'GENERATION_FAILED', 'The model could not read a reference image.'],
    ['invalid_request', 'GENERATION_FAILED', 'The model could not finish the image.'],
    ['adapter_unavailable', 'GENERATION_FAILED', 'The model could not finish the image.'],
    ['upload_failed', 'GENERATION_FAILED', 'The model could not finish the image.'],
  ])('of %s: %s, %s', async (reason, code, said) => {
    expect(await sentence(reason)).toEqual([code, said, `model server: failed: ${reason}: Secret.`]);
  });

  test('of a reference image that can not be decoded which one it is, unless the request has no such image', async () => {
    const said = async (reference: number) => {
      const event = { ...failed('reference_invalid', 'Secret.'), reference } as ModelEvent;
      const { result } = await run(saying(event), { generation: queued({ referenceImages: 2 }) });
      return [result.code, result.message, result.cause.message];
    };
    expect(await said(1)).toEqual([
      'INVALID_PARAMETERS',
      'referenceImages[1]: must be an undamaged image that shows something: the model could not read it.',
      'model server: failed: reference_invalid: Secret.',
    ]);
    expect((await said(2))[0]).toBe('GENERATION_FAILED');
  });

  test('of its deadline the time that the request had', async () => {
    const late = 'The image was not finished within 120 seconds.';
    expect(await sentence('deadline')).toEqual(['TIMEOUT', late, undefined]);
  });

  test.each([
    ['CUDA out of memory: 512 MiB', 'CUDA out of memory: 512 MiB'],
    ['  x\ty\n', '  x y '],
    ['x '.repeat(400), 'x '.repeat(150)],
    ['GET https://s3/k?X-Amz-Signature=1 failed', 'GET   failed'],
    [`token ${'k'.repeat(40)} is bad`, 'token   is bad'],
    ['no "A Lighthouse, in fog" here', 'no "~ ~, ~ ~" here'],
    ['cut: a lighth', 'cut: ~ ~'],
    ['{"p":"\\nlighthouse"}', '{"p":"\\~"}'],
    ['prompt=лес', 'prompt= '],
  ])('nothing of its own words: %j is %j in the log', async (message, logged) => {
    const asked = { prompt: 'a lighthouse in fog', negativePrompt: 'лес' };
    for (const reason of ['model_error', 'whatever']) {
      const { result } = await run(saying(failed(reason, message)), { generation: queued(asked) });
      expect([result.code, result.message]).toEqual([
        'GENERATION_FAILED',
        'The model could not finish the image.',
      ]);
      expect(result.cause.message).toBe(`model server: failed: model_error: ${logged}`);
    }
  });
});

describe('when a run breaks off', () => {
  const hangUp = async function* (): AsyncGenerator<ModelEvent> {
    yield { event: 'started' };
    throw new Error('socket hang up');
  };

  test('by itself, its error is told as it is', async () => {
    expect((await run(hangUp)).result).toMatchObject({ message: 'socket hang up' });
  });

  test('at its deadline, that is a TIMEOUT', async () => {
    const clock = standingClock();
    clock.deadline.abort();
    const { result } = await run(hangUp, { clock });
    expect(result).toMatchObject({
      code: 'TIMEOUT',
      message: 'The image was not finished within 120 seconds.',
    });
  });

  test('because the service is stopped, that is SERVICE_UNAVAILABLE', async () => {
    const stopping = new AbortController();
    stopping.abort();
    const { result } = await run(hangUp, { stopping });
    expect(result).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      message: 'The service was stopped before the image was finished.',
    });
  });

  test('with a reason of its own, that counts also after the deadline', async () => {
    const clock = standingClock();
    clock.deadline.abort();
    const { result } = await run(saying(failed('busy')), { clock });
    expect(result.code).toBe('SERVICE_UNAVAILABLE');
  });

  test('the model hears of the deadline and of the service’s end', async () => {
    for (const which of ['deadline', 'stopping'] as const) {
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
    }
  });
});

test.each([
  [new ServiceError('TIMEOUT', ''), 'TIMEOUT'],
  [new ServiceError('SERVICE_UNAVAILABLE', ''), 'SERVICE_UNAVAILABLE'],
  [new ServiceError('GENERATION_FAILED', ''), 'GENERATION_FAILED'],
  [new ServiceError('INVALID_PARAMETERS', ''), 'INVALID_PARAMETERS'],
  [new ServiceError('TIER_LIMIT', ''), 'GENERATION_FAILED'],
  [new Error('TIMEOUT'), 'GENERATION_FAILED'],
  ['TIMEOUT', 'GENERATION_FAILED'],
])('%s is stored as %s', (error, code) => expect(runErrorCode(error)).toBe(code));

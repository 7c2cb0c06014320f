import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { outputFormats, type OutputFormat } from '../../../shared/contracts/generation.ts';
import type { ModelRequest } from '../../../shared/contracts/model-server.ts';
import {
  emit,
  identity,
  newOrder,
  paint,
  run,
  startWorld,
  stored,
  type Behaviour,
  type World,
} from './world.ts';

let world: World;
/** What the container was asked last. */
let asked: ModelRequest;

beforeAll(async () => {
  world = await startWorld();
});

afterAll(() => world.close());

beforeEach(() => {
  world.container.state.behaviour = painting(paint);
});

const painting =
  (behaviour: Behaviour): Behaviour =>
  (request, res) => {
    asked = request;
    return behaviour(request, res);
  };

async function order(outputFormat?: OutputFormat) {
  const body = { identityId: identity.identityId, prompt: 'x', width: 512, height: 512 };
  const one = newOrder(world, { body: { ...body, ...(outputFormat && { outputFormat }) } });
  const outcome = (await run(one, world.deps)) as any;
  return { outcome, ...(await stored(world, one)) };
}

const extensions = { png: '.png', webp: '.webp', jpeg: '.jpg' };

test.each(outputFormats)('%s images have their own name and Content-Type', async (outputFormat) => {
  const { outcome, generation } = await order(outputFormat);

  expect(asked.outputFormat).toBe(outputFormat);
  expect(generation).toMatchObject({ status: 'COMPLETED', outputFormat });
  const [link] = outcome.outputs;
  expect(new URL(link).pathname).toMatch(new RegExp(`/output-0\\${extensions[outputFormat]}$`));
  const file = await fetch(link);
  expect([file.status, file.headers.get('content-type')]).toEqual([200, `image/${outputFormat}`]);
});

test('a request that names no format gets PNGs', async () => {
  const { outcome, generation } = await order();

  expect([asked.outputFormat, generation!.outputFormat]).toEqual(['png', 'png']);
  expect(new URL(outcome.outputs[0]).pathname).toMatch(/\.png$/);
});

describe('a container that is older than the choice, and puts PNGs', () => {
  /** What each link answered. */
  let answers: number[];
  const put = async ({ outputs }: ModelRequest) => {
    const headers = { 'content-type': 'image/png' };
    for (const { putUrl } of outputs) {
      answers.push((await fetch(putUrl, { method: 'PUT', headers, body: 'image' })).status);
    }
  };
  const image = { bytes: 5, sha256: 'a'.repeat(64), width: 512, height: 512 };
  const closings = {
    'says that it could not put them': { event: 'failed', reason: 'upload_failed', message: 'It got a 403.' },
    'says that it has': { event: 'completed', outputs: [image], referenceImagesUsed: 0, modelVersion: '1' },
  };

  describe.each(Object.entries(closings))('and %s', (_what, closing) => {
    beforeEach(() => {
      answers = [];
      world.container.state.behaviour = painting(async (request, res) => {
        emit(res, { event: 'started' });
        await put(request);
        emit(res, closing);
        res.end();
      });
    });

    test.each(['webp', 'jpeg'] as const)(
      'fails a request for %s, which costs nothing',
      async (outputFormat) => {
        const { outcome, generation, period } = await order(outputFormat);

        expect(answers).toEqual([403]);
        expect([outcome.code, outcome.status]).toEqual(['GENERATION_FAILED', 500]);
        expect(generation).toMatchObject({ status: 'FAILED', outputFormat });
        expect(period).toMatchObject({ used: 0, committed: 0 });
        expect(await world.deps.objects.outputSize(generation!, 0)).toBeNull();
      },
    );
  });
});

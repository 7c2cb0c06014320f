import { expect, test } from '@jest/globals';
import type { ModelCompleted } from '../../../shared/model/contract.ts';
import { runModel } from '../../../shared/generations/run-model.ts';
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

const events = { queued: () => {}, started: () => Promise.resolve(), progress: () => {} };

/** Two images that are there, and what a run makes of their previews. */
async function previewsOf(
  said: ModelCompleted,
  { previewSizes = [] as (number | null)[], objects = linkTeller([11, 12], previewSizes) } = {},
) {
  const clock = standingClock();
  const stopping = new AbortController().signal;
  const deps = { ...scriptedModel(saying(said)), objects, clock, stopping, embedParameters: false };
  return { ...(await runModel(queued(), identity, events, deps)), clock };
}

const first = { ...output(11), previewBytes: 7 };
const said = (second: { previewBytes?: number | null }) => completed(first, { ...output(12), ...second });

test('a preview counts where the model put one that lies there whole', async () => {
  const { previews } = await previewsOf(said({ previewBytes: 60_000 }), { previewSizes: [7, 60_000] });
  expect(previews).toEqual([true, true]);
});

test.each([
  ['that the model says nothing of', {}, 8],
  ['that the model has not put', { previewBytes: null }, 8],
  ['that is larger than a preview may be', { previewBytes: 60_001 }, 60_001],
  ['that is not there', { previewBytes: 8 }, null],
  ['of another size than the model said', { previewBytes: 8 }, 9],
])('a preview %s is left out, and its image counts', async (_what, second, size) => {
  const { previews, outputs } = await previewsOf(said(second), { previewSizes: [7, size] });
  expect([previews, outputs.length]).toEqual([[true, false], 2]);
});

test('a store that fails when it is asked for previews fails no image', async () => {
  const objects = linkTeller([11, 12]);
  objects.previewSize = () => Promise.reject(new Error('no answer'));
  expect(await previewsOf(said({ previewBytes: 8 }), { objects })).toMatchObject({
    previews: [false, false],
  });
});

test('a store that answers nothing is asked for previews for two seconds at most', async () => {
  const objects = linkTeller([11, 12]);
  const signals: AbortSignal[] = [];
  objects.previewSize = async (_of, _index, signal) => (signals.push(signal), null);
  const { clock } = await previewsOf(said({ previewBytes: 8 }), { objects });
  clock.deadline.abort();
  expect([clock.waitedMs, signals.map(({ aborted }) => aborted)]).toEqual([2000, [true, true]]);
});

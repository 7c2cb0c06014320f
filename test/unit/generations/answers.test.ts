import { describe, expect, test } from '@jest/globals';
import { systemClock } from '../../../shared/base/clock.ts';
import { billingPeriod } from '../../../shared/licenses/billing-period.ts';
import type { Generation } from '../../../shared/generations/generation.ts';
import { periodFromItem, type PeriodStore } from '../../../shared/licenses/period-store.ts';
import { completedAnswer, storedAnswer } from '../../../shared/generations/answers.ts';
import { sampleIdentity, sampleKeyId } from '../../support/unit-samples.ts';
import { license, namedLinks, queued, startMs as nowMs } from './fixture.ts';

/** Period totals of one license and one period. */
const periods = {
  get: (licenseId: string, startMs: number) =>
    Promise.resolve(
      periodFromItem({ committed: 70, used: licenseId === 'lic_1' && startMs === 4711 ? 60 : 0 }),
    ),
  extraLeft: () => Promise.resolve(null),
} as unknown as PeriodStore;
const objects = namedLinks();
const generation = (changes: Partial<Generation> = {}) => queued({ numOutputs: 3, ...changes });

const completed: Partial<Generation> = {
  status: 'COMPLETED',
  startedAtMs: nowMs + 1000,
  completedAtMs: nowMs + 9000,
  previews: [true, false, true],
  referenceImagesUsed: 2,
  modelVersion: 'v9',
};
const links = ['get r1/0', 'get r1/1', 'get r1/2'];
const previews = ['preview r1/0', null, 'preview r1/2'];

describe('the answer to a completed request', () => {
  test('has exactly these members', async () => {
    const answer = await completedAnswer(generation({ ...completed, credits: 6 }), license, {
      objects,
      periods,
      clock: systemClock,
    });
    expect(answer).toEqual({
      requestId: 'r1',
      outputs: links,
      previews,
      identity: { id: sampleIdentity.identityId, name: sampleIdentity.name },
      identityVersion: 1,
      referenceImagesUsed: 2,
      usage: {
        creditsUsed: 60,
        creditsLimit: 100,
        creditsRemaining: 40,
        creditsCharged: 6,
        periodResetDate: '2026-05-31T08:00:00.000Z',
      },
      processingTimeMs: 9000,
      seed: 5,
    });
  });

  test('names the end of the period in which it was accepted, whenever it was completed', async () => {
    const { endMs } = billingPeriod(license.periodAnchorMs, nowMs);
    const late = generation({ ...completed, createdAtMs: endMs - 1, completedAtMs: endMs + 5000 });
    const { usage } = await completedAnswer(late, license, { objects, periods, clock: systemClock });
    expect(usage.periodResetDate).toBe(new Date(endMs).toISOString());
  });
});

describe('a stored request as its owner reads it', () => {
  test('has exactly these members once it completed', async () => {
    expect(await storedAnswer(generation({ ...completed, credits: 6 }), objects)).toEqual({
      id: 'r1',
      licenseId: 'lic_1',
      keyId: sampleKeyId,
      type: 'text_to_image',
      status: 'COMPLETED',
      identity: { id: sampleIdentity.identityId, name: sampleIdentity.name, slug: sampleIdentity.slug },
      identityVersion: 1,
      prompt: 'a lighthouse',
      effectivePrompt: null,
      negativePrompt: '',
      seed: 5,
      steps: 30,
      cfgScale: 7.5,
      width: 1024,
      height: 1024,
      numOutputs: 3,
      outputFormat: 'png',
      referenceMode: 'reference',
      preserveBranding: false,
      outputUrl: links[0],
      outputs: links,
      previews,
      errorMessage: null,
      errorCode: null,
      creditsCharged: 6,
      referenceImagesUsed: 2,
      processingTimeMs: 9000,
      modelVersion: 'v9',
      createdAt: '2026-05-17T11:23:45.678Z',
      startedAt: '2026-05-17T11:23:46.678Z',
      completedAt: '2026-05-17T11:23:54.678Z',
    });
  });

  test('has no previews where it was generated before there were any', async () => {
    const older = await storedAnswer(generation({ ...completed, previews: null }), objects);
    expect(older).toMatchObject({ outputs: links, previews: [null, null, null] });
  });

  test.each([
    ['QUEUED', {}, {}],
    ['PROCESSING', { startedAtMs: nowMs }, { startedAt: '2026-05-17T11:23:45.678Z' }],
    [
      'TIMEOUT',
      { errorCode: 'TIMEOUT', errorMessage: 'Too late.', completedAtMs: nowMs + 1 },
      {
        errorCode: 'TIMEOUT',
        errorMessage: 'Too late.',
        completedAt: '2026-05-17T11:23:45.679Z',
        processingTimeMs: 1,
      },
    ],
  ] as const)('has no images and no charge while it is %s', async (status, changes, expected) => {
    expect(await storedAnswer(generation({ status, ...changes }), objects)).toMatchObject({
      status,
      outputUrl: null,
      outputs: [],
      previews: [],
      creditsCharged: 0,
      modelVersion: null,
      startedAt: null,
      completedAt: null,
      processingTimeMs: null,
      errorMessage: null,
      errorCode: null,
      ...expected,
    });
  });
});

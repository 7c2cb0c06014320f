import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { container } from './container.ts';
import { downloadCases } from './downloads.ts';
import { endingCases } from './endings.ts';
import { pictureCases } from './pictures.ts';
import { referenceCases } from './references.ts';
import { requestCases } from './requests.ts';
import { uploadCases } from './uploads.ts';
import { promptMark, startWorld } from './world.ts';
import type { World } from './world.ts';

// Above the time that a container may take to start, on a machine that is busy with other things.
jest.setTimeout(660_000);

/** One container serves all cases, because a model server takes long to start. */
describe(`${container.name} keeps the model server's contract`, () => {
  let started: World | undefined;
  beforeAll(async () => {
    started = await startWorld();
  });
  afterAll(async () => {
    await Promise.all([started?.running.close(), started?.store.close()]);
  });
  const world = (): World => started!;

  describe('requests', () => requestCases(world));
  describe('pictures', () => pictureCases(world));
  describe('downloads', () => downloadCases(world, container));
  describe('references', () => referenceCases(world));
  describe('uploads', () => uploadCases(world));
  describe('endings', () => endingCases(world, container));

  test('no prompt and no link reaches the log', () => {
    expect(world().running.log()).not.toMatch(new RegExp(`${promptMark}|Signature|X-Amz`));
  });
});

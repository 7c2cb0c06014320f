import { describe, expect, jest, test } from '@jest/globals';
import { useFixture } from '../support/use-fixture.ts';
import { container } from './container.ts';
import { downloadCases } from './downloads.ts';
import { endingCases } from './endings.ts';
import { pictureCases } from './pictures.ts';
import { referenceCases } from './references.ts';
import { requestCases } from './requests.ts';
import { uploadCases } from './uploads.ts';
import { openContract, promptMark } from './fixture.ts';

// Above the time that a container may take to start, on a machine that is busy with other things.
jest.setTimeout(660_000);

/** One container serves all cases, because a model server takes long to start. */
describe(`${container.name} keeps the model server's contract`, () => {
  const fixture = useFixture(openContract);

  describe('requests', () => requestCases(fixture));
  describe('pictures', () => pictureCases(fixture));
  describe('downloads', () => downloadCases(fixture, container));
  describe('references', () => referenceCases(fixture));
  describe('uploads', () => uploadCases(fixture));
  describe('endings', () => endingCases(fixture, container));

  test('no prompt and no link reaches the log', () => {
    expect(fixture.running.log()).not.toMatch(new RegExp(`${promptMark}|Signature|X-Amz`));
  });
});

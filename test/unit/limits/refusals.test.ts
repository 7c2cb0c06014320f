import { expect, test } from '@jest/globals';
import { errorCodes } from '../../../shared/base/errors.ts';
import { isRefusalCode, refusalCodes } from '../../../shared/limits/refusals.ts';

test('what failed on our side, or after it was accepted, is no refusal; every other code is', () => {
  const faults = ['SERVICE_UNAVAILABLE', 'INTERNAL_ERROR', 'TIMEOUT', 'GENERATION_FAILED', 'CANCELLED'];
  expect(faults.filter(isRefusalCode)).toEqual([]);
  expect([...refusalCodes, ...faults].toSorted()).toEqual(Object.keys(errorCodes).toSorted());
});

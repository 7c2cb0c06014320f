import { expect, test } from '@jest/globals';
import { stateOf } from '../../../shared/model/component-status.ts';

test.each([
  ['InService', 1, 1, 'ready'],
  ['InService', 0, 0, 'asleep'],
  ['Updating', 0, 1, 'waking'],
  ['Updating', 1, 0, 'ready'],
  ['Creating', 0, 1, 'waking'],
  ['Failed', 0, 1, 'unavailable'],
  ['Deleting', 1, 1, 'unavailable'],
] as const)('a component that is %s with %i of %i copies is %s', (status, current, desired, expected) => {
  const RuntimeConfig = { CurrentCopyCount: current, DesiredCopyCount: desired };
  expect(stateOf({ InferenceComponentStatus: status, RuntimeConfig })).toBe(expected);
});

test('an answer that says nothing is no component', () => {
  expect(stateOf({})).toBe('unavailable');
  expect(stateOf({ InferenceComponentStatus: 'InService' })).toBe('asleep');
});

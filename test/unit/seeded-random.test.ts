import { expect, test } from '@jest/globals';
import { seededRandom } from '../faults/simulation/random.ts';

test('simulations with neighbouring seeds are different from their first number on', () => {
  const first = Array.from({ length: 200 }, (_, seed) => seededRandom(seed + 1).float());
  const tenths = Map.groupBy(first, (number) => Math.floor(number * 10));
  for (const numbers of tenths.values()) expect(numbers.length).toBeLessThan(40);
  expect(tenths.size).toBe(10);
});

test('the same seed gives the same numbers', () => {
  const [one, other] = [seededRandom(7), seededRandom(7)];
  const numbers = Array.from({ length: 20 }, () => one.int(0, 1000));
  expect(Array.from({ length: 20 }, () => other.int(0, 1000))).toEqual(numbers);
});

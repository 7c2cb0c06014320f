import { expect, test } from '@jest/globals';
import { measureCost, partOf } from '../../bench/cost.ts';
import type { Line } from '../../../bin/costs/model.ts';

const line = (component: string, what: string, unit = 'GB'): Line => ({
  component,
  what,
  price: { usd: 1, unit },
  formula: '',
  quantity: 1,
  usd: 1,
});

test('keeping and egress are told apart from the generation itself', () => {
  const parts = (...lines: [string, string][]) =>
    lines.map(([component, what]) => partOf(line(component, what)));
  expect(parts(['Images', 'stored'], ['Table', 'records'])).toEqual(['kept', 'kept']);
  expect(parts(['Images', 'to the internet'], ['API', 'answers'])).toEqual(['egress', 'egress']);
  expect(parts(['Functions', 'waiting for the model'], ['Logs', 'written'])).toEqual(['used', 'used']);
});

test('the lines add up, and the GPU is its price for ten seconds a thousand times', () => {
  const cost = measureCost();
  const sum = cost.lines.reduce((total, { usd }) => total + usd, 0);
  expect(sum).toBeCloseTo(cost.withoutGpu, 10);
  // Lambda alone: 10.3 s of a quarter of a GB, a thousand times, and a thousand requests.
  const functions = cost.lines.find(({ what }) => what === 'Functions')!.usd;
  expect(functions).toBeCloseTo(1000 * 10.3 * 0.25 * 0.0000133334 + 0.0002, 6);
  expect(cost.gpuAtFull).toBeCloseTo((10_000 / 3600) * 1.1267, 4);
  expect(cost.gpuAtScaling).toBeCloseTo(cost.gpuAtFull / 0.7, 6);
});

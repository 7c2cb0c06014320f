import { expect, test } from '@jest/globals';
import { routes } from '../../shared/routes/routes.ts';
import { grant } from '../support/grants.ts';
import { pause } from '../support/until.ts';
import { useService } from '../support/use-service.ts';

const service = useService({ quickContainer: true });
const { quota, windowSeconds } = routes.createGeneration.limit;

interface Passed {
  sentMs: number;
  answeredMs: number;
}

test('in any rolling 60 seconds 10 requests pass and not one more', async () => {
  const { key } = await grant(service.table);
  const passed: Passed[] = [];
  const call = async () => {
    const sentMs = Date.now();
    const { status } = await service.api({ path: '/generate', key, body: '{' });
    if (status === 400) passed.push({ sentMs, answeredMs: Date.now() });
  };
  // A burst, then a few every quarter second until the second window is used up.
  for (let size = 12; passed.length < 2 * quota; size = 3) {
    await Promise.all(Array.from({ length: size }, call));
    await pause(250);
  }
  // The service took each one between its sending and its answer, so these were certainly within one window.
  const within = ({ sentMs }: Passed) =>
    passed.filter((other) => other.sentMs >= sentMs && other.answeredMs < sentMs + windowSeconds * 1000)
      .length;
  expect(Math.max(...passed.map(within))).toBeLessThanOrEqual(quota);
}, 600_000);

import { expect, test } from '@jest/globals';
import { smoke } from '../support/smoke.ts';
import { until } from '../support/until.ts';
import { useService } from '../support/use-service.ts';

const service = useService({ args: ['--sleep', '1', '--wake', '3'] });

test('a model that is scaled to zero is started by the checks and waited for, and every check passes', async () => {
  const isAsleep = async () => (await service.api({ path: '/health' })).body.model === 'asleep';
  await until('it is scaled to zero', isAsleep, 60_000, 500);
  const { code, stdout, stderr } = await smoke(['--data', service.dataDir]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('13 passed, 0 failed');
});

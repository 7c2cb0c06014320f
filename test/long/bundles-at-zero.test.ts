import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { scaleToZero } from '../../local/sagemaker/scale-to-zero.ts';
import { everythingScaledToZero as configuration } from '../support/configurations.ts';
import type { DeployedCall } from '../support/deployed-calls.ts';
import { startDeployed, type Deployed } from '../support/deployed.ts';
import { small } from '../support/requests.ts';
import { removeFolder, startService, type RunningService } from '../support/service.ts';
import { synthesize, type Synthesized } from '../support/synthesized.ts';
import { until } from '../support/until.ts';

/** The bundles of a deployment whose model may be scaled to zero, with the roles and the variables of its template. */
let synthesized: Synthesized;
let service: RunningService;
let deployed: Deployed;

beforeAll(async () => {
  synthesized = synthesize(configuration);
  service = await startService();
  // It is scaled to zero, and once it is ready it stays so for as long as the test needs.
  const idleMs = 600_000;
  let shiftMs = 0;
  const model = scaleToZero({ idleMs, coldStartMs: 3000, now: () => Date.now() + shiftMs });
  shiftMs = idleMs + 1;
  deployed = await startDeployed(synthesized, service, { configuration, scaling: model });
}, 240_000);

afterAll(async () => {
  await deployed?.close();
  await service?.end('SIGKILL');
  if (service) removeFolder(service.dataDir);
  synthesized?.remove();
});

const generate = (more: DeployedCall = {}) =>
  deployed.call('create-generation', {
    key: service.ready.keys.pro!,
    body: { ...small, identityId: service.ready.identities.aurora },
    ...more,
  });

test('a model that is scaled to zero is seen, started and waited for with the rights that the roles have, and no others', async () => {
  expect((await deployed.call('get-health', {})).body).toMatchObject({ status: 'ok', model: 'asleep' });
  const refused = await generate();
  expect(refused).toMatchObject({ status: 503, body: { code: 'SERVICE_UNAVAILABLE' } });
  expect(refused.headers['retry-after']).toBe('300');
  expect((await generate({ headers: { prefer: 'respond-async' } })).status).toBe(202);
  await deployed.idle();
  await until(
    'a request on the line is generated',
    async () => (await generate()).status === 200,
    60_000,
    6000,
  );

  expect(deployed.refused).toEqual([]);
  const unused = deployed.grantedButUnused();
  const ofTheModel = (name: string) =>
    unused.filter((line) => line.startsWith(`${name}: `) && /sagemaker:|keys MODEL/.test(line));
  for (const name of ['create-generation', 'get-health', 'run-generation'])
    expect(ofTheModel(name)).toEqual([]);
  expect(deployed.asked('get-health').map(({ action }) => action)).not.toContain(
    'sagemaker:InvokeEndpointWithResponseStream',
  );
});

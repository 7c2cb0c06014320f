import { expect, test } from '@jest/globals';
import { routes } from '../../shared/routes/routes.ts';
import type { Route } from '../../shared/routes/route.ts';
import type { Deployed } from '../support/deployed.ts';
import type { RunningService } from '../support/service.ts';

/** Refusals of every function that takes a key, by its bundle with its role. */
export function refusalBundleTests(world: () => { deployed: Deployed; service: RunningService }): void {
  test('every function that takes a key may count whom it refuses', async () => {
    const { deployed, service } = world();
    const parameters = { requestId: 'x', model: 'nobody' };
    const refused = { key: service.ready.keys.pro!, query: { nobody: 'x' }, parameters, body: {} };
    for (const { functionName, auth } of Object.values(routes) as Route[]) {
      if (auth !== 'key' && auth !== 'key_or_session') continue;
      const { status } = await deployed.call(functionName, refused);
      expect([functionName, Math.floor(status / 100)]).toEqual([functionName, 4]);
    }
    expect(deployed.logs()).not.toContain('refusal not counted');
  });
}

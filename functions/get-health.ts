import { modelServer } from '../shared/adapters/model-server.ts';
import type { HealthAnswer } from '../shared/contracts/health.ts';
import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { readQuery } from '../shared/http/request.ts';
import { routes } from '../shared/routes.ts';

/** Anyone may ask, so the model is not probed for each request. */
const probeLifetimeMs = 10_000;

/** GET /health. The answer itself shows that the API is up; the model is probed. */
export const handler = endpoint(routes.getHealth, {
  deps: ({ env }) => ({ model: modelServer(env.modelEndpointName), last: { atMs: -Infinity, up: false } }),
  async run({ request, deps, runtime }) {
    readQuery(request, []);
    const nowMs = runtime.clock.now();
    if (nowMs - deps.last.atMs >= probeLifetimeMs) {
      deps.last = { atMs: nowMs, up: await deps.model.probe() };
    }
    const health: HealthAnswer = {
      status: deps.last.up ? 'ok' : 'degraded',
      api: 'up',
      inference: deps.last.up ? 'up' : 'down',
      model: deps.last.up ? 'ready' : 'unavailable',
      modelReadyInSeconds: null,
    };
    return ok(health);
  },
});

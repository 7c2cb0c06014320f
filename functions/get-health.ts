import { componentStatus } from '../shared/model/component-status.ts';
import { modelServer } from '../shared/model/client.ts';
import type { HealthAnswer, ModelState } from '../shared/model/health-contract.ts';
import { neverWoken, secondsUntilAwake, stateOfSleeper, type Waking } from '../shared/model/cold-start.ts';
import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { readQuery } from '../shared/http/request.ts';
import * as routes from '../shared/routes/table.ts';
import { loggableError } from '../shared/base/log.ts';
import type { Runtime } from '../shared/http/runtime.ts';
import { wakingStore } from '../shared/model/cold-start-store.ts';

/** Anyone may ask, so the model is not asked for each request. */
const lifetimeMs = 10_000;

interface Seen {
  model: ModelState;
  /** Null where the model never sleeps. */
  waking: Waking | null;
}

/** GET /health. The answer itself shows that the API is up; the model is asked, and is never woken. */
export const handler = endpoint(routes.getHealth, {
  deps: (runtime) => ({ look: lookAtModel(runtime), last: { atMs: -Infinity, seen: unknown } }),
  async run({ request, deps, runtime }) {
    readQuery(request, []);
    const nowMs = runtime.clock.now();
    if (nowMs - deps.last.atMs >= lifetimeMs) deps.last = { atMs: nowMs, seen: await deps.look() };
    return ok(healthOf(deps.last.seen, nowMs));
  },
});

const unknown: Seen = { model: 'unavailable', waking: null };

function healthOf({ model, waking }: Seen, nowMs: number): HealthAnswer {
  // A model that never sleeps should not have to wake.
  const isUp = model === 'ready' || (waking !== null && model !== 'unavailable');
  return {
    status: isUp ? 'ok' : 'degraded',
    api: 'up',
    inference: isUp ? 'up' : 'down',
    model,
    modelReadyInSeconds: model === 'waking' && waking !== null ? secondsUntilAwake(waking, nowMs) : null,
  };
}

/** A call would wake a model that sleeps, so SageMaker is asked how that is. Any other is probed. */
function lookAtModel({ env, table, clock, log }: Runtime): () => Promise<Seen> {
  if (env.modelComponentName === null) {
    const server = modelServer(env.modelEndpointName);
    return async () => ({ model: await server.probe(), waking: null });
  }
  const component = componentStatus(env.modelComponentName, env.sageMakerUrl);
  const store = wakingStore(table());
  const logFault = (what: string) => (error: unknown) => {
    log.error(what, { causes: loggableError(error) });
    return null;
  };
  return async () => {
    const [described, stored] = await Promise.all([
      component.get().catch(logFault('model not described')),
      store.get().catch(logFault('waking not read')),
    ]);
    const waking = stored?.waking ?? neverWoken;
    const model = described === null ? 'unavailable' : stateOfSleeper(described, waking, clock.now());
    return { model, waking };
  };
}

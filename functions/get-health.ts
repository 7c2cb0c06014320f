import { componentStatus } from '../shared/model/component-status.ts';
import { modelServer } from '../shared/model/client.ts';
import type { HealthAnswer, ModelState } from '../shared/model/health-contract.ts';
import {
  noColdStart,
  secondsUntilReady,
  stateOfScaling,
  type ColdStart,
} from '../shared/model/cold-start.ts';
import { ok } from '../shared/http/answer.ts';
import { endpoint } from '../shared/http/endpoint.ts';
import { readQuery } from '../shared/http/request.ts';
import * as routes from '../shared/routes/table.ts';
import { loggableError } from '../shared/base/log.ts';
import type { Runtime } from '../shared/http/runtime.ts';
import { coldStartStore } from '../shared/model/cold-start-store.ts';

/** Anyone may ask, so the model is not asked for each request. */
const lifetimeMs = 10_000;

interface Seen {
  model: ModelState;
  /** Null where the model never scales to zero. */
  coldStart: ColdStart | null;
}

/** GET /health. The answer itself shows that the API is up; the model is asked, and no cold start is begun. */
export const handler = endpoint(routes.getHealth, {
  deps: (runtime) => ({ look: lookAtModel(runtime), last: { atMs: -Infinity, seen: unknown } }),
  async run({ request, deps, runtime }) {
    readQuery(request, []);
    const nowMs = runtime.clock.now();
    if (nowMs - deps.last.atMs >= lifetimeMs) deps.last = { atMs: nowMs, seen: await deps.look() };
    return ok(healthOf(deps.last.seen, nowMs));
  },
});

const unknown: Seen = { model: 'unavailable', coldStart: null };

function healthOf({ model, coldStart }: Seen, nowMs: number): HealthAnswer {
  // Only a model that scales to zero may be starting: any other that is not ready is a fault.
  const isUp = model === 'ready' || (coldStart !== null && model !== 'unavailable');
  return {
    status: isUp ? 'ok' : 'degraded',
    api: 'up',
    inference: isUp ? 'up' : 'down',
    model,
    modelReadyInSeconds:
      model === 'waking' && coldStart !== null ? secondsUntilReady(coldStart, nowMs) : null,
  };
}

/** A call would begin a cold start, so SageMaker is asked how a model that scales to zero is. Any other is probed. */
function lookAtModel({ env, table, clock, log }: Runtime): () => Promise<Seen> {
  if (env.modelComponentName === null) {
    const server = modelServer(env.modelEndpointName);
    return async () => ({ model: await server.probe(), coldStart: null });
  }
  const component = componentStatus(env.modelComponentName, env.sageMakerUrl);
  const store = coldStartStore(table());
  const logFault = (what: string) => (error: unknown) => {
    log.error(what, { causes: loggableError(error) });
    return null;
  };
  return async () => {
    const [described, stored] = await Promise.all([
      component.get().catch(logFault('model not described')),
      store.get().catch(logFault('waking not read')),
    ]);
    const coldStart = stored?.coldStart ?? noColdStart;
    const model = described === null ? 'unavailable' : stateOfScaling(described, coldStart, clock.now());
    return { model, coldStart };
  };
}

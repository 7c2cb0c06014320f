import { once, openRuntime } from '../shared/http/runtime.ts';
import { generationStore } from '../shared/store/generation-store.ts';
import { sweep } from '../shared/workflow/sweep.ts';

const runtime = once(openRuntime);

/** Each minute: gives back what dead handlers still hold. Fails when a request could not be ended, so that an alarm hears of it. */
export async function handler(): Promise<void> {
  const { table, clock, log } = runtime();
  const result = await sweep(generationStore(table()), clock);
  log.info('sweep', { ...result });
  if (result.failed > 0) throw new Error(`${result.failed} expired requests could not be ended`);
}

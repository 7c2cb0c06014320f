import { systemClock } from '../shared/domain/clock.ts';
import { jobs } from '../shared/routes.ts';
import { generationStore } from '../shared/store/generation-store.ts';
import { openTable } from '../shared/store/table.ts';
import { sweep } from '../shared/workflow/sweep.ts';

/**
 * Runs the sweep job as the scheduler would. First it ends every open request, whatever its lease: only this process
 * uses the data folder and it has accepted nothing yet, so the process that ran them is gone.
 */
export async function startSweepSchedule(tableName: string): Promise<{ stop(): Promise<void> }> {
  await sweep(generationStore(openTable(tableName)), systemClock, Number.MAX_SAFE_INTEGER);
  const { handler } = await import('../functions/sweep.ts');
  let running: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    running = handler().catch(() => {});
  }, jobs.sweep.trigger.everyMinutes * 60_000);
  return {
    stop() {
      clearInterval(timer);
      return running;
    },
  };
}

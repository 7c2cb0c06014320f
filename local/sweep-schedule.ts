import { objectStore } from '../shared/images/object-store.ts';
import { systemClock } from '../shared/base/clock.ts';
import { jobs } from '../shared/routes/jobs.ts';
import { jsonLog, loggableError } from '../shared/base/log.ts';
import { deletionStore } from '../shared/generations/deletion-store.ts';
import { generationStore } from '../shared/generations/store.ts';
import { openTable } from '../shared/table/table.ts';
import { sweep } from '../shared/generations/sweep.ts';
import type { EnginesFile } from './data-folder.ts';

/**
 * Runs the jobs of the clock as the scheduler would. First it ends every open request, whatever its lease: only this process
 * uses the data folder and it has accepted nothing yet, so the process that ran them is gone.
 */
export async function startSweepSchedule({
  tableName,
  bucketName,
}: Pick<EnginesFile, 'tableName' | 'bucketName'>): Promise<{ stop(): Promise<void> }> {
  const log = jsonLog();
  const table = openTable(tableName);
  const deps = {
    generations: generationStore(table),
    deletions: deletionStore(table),
    objects: objectStore(bucketName),
    clock: systemClock,
    logFault: (requestId: string, what: string, error: unknown) =>
      log.error(what, { requestId, causes: loggableError(error) }),
  };
  await sweep(deps, Number.MAX_SAFE_INTEGER);
  const { handler: sweepAgain } = await import('../functions/sweep.ts');
  const { handler: sendNotices } = await import('../functions/send-notices.ts');
  const started = [
    everyMinutes(jobs.sweep.trigger.everyMinutes, sweepAgain),
    everyMinutes(jobs.sendNotices.trigger.everyMinutes, sendNotices),
  ];
  return {
    async stop() {
      await Promise.all(started.map((job) => job.stop()));
    },
  };
}

function everyMinutes(minutes: number, job: () => Promise<void>): { stop(): Promise<void> } {
  let running: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    running = job().catch(() => {});
  }, minutes * 60_000);
  return {
    stop() {
      clearInterval(timer);
      return running;
    },
  };
}

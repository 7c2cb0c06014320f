import type { Command } from 'commander';
import { answer, withExamples, type Session } from './command.ts';
import { counted, type Answer } from '../common/output.ts';

export function addSweepCommand(program: Command): void {
  const command = program
    .command('sweep')
    .description(
      'end the requests whose handler died and give back their credits, as happens each minute anyway',
    )
    .action((_, self: Command) => answer(self, sweepOnce));
  withExamples(command, ['sweep', 'sweep --json --stack image-generation-prod']);
}

async function sweepOnce({ stores, bucketName }: Session): Promise<Answer> {
  const [{ sweep }, { systemClock }, { objectStore }] = await Promise.all([
    import('../../shared/workflow/sweep.ts'),
    import('../../shared/domain/clock.ts'),
    import('../../shared/adapters/object-store.ts'),
  ]);
  // Where the bucket is not known, or its operator may not delete in it, it removes them by itself after a day.
  const objects = bucketName === null ? { deleteReferences: async () => {} } : objectStore(bucketName);
  const deps = { generations: stores.generations, objects, clock: systemClock, logFault: () => {} };
  const { released, failed } = await sweep(deps);
  const ended =
    released === 0
      ? 'No request was stuck.'
      : `${counted(released, 'stuck request')} ended, with the credits given back.`;
  const left = failed === 0 ? '' : ` ${counted(failed, 'request')} could not be ended: sweep again.`;
  return { json: { released, failed }, text: ended + left };
}

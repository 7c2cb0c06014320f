import type { CommandRow, Session } from './command.ts';
import { counted, type Answer } from '../common/output.ts';

export const sweepCommand: CommandRow = {
  name: 'sweep',
  description:
    'end the requests whose handler died and give back their credits, and finish deletions, as happens each minute anyway',
  examples: ['sweep', 'sweep --json --stack image-generation-prod'],
  run: () => sweepOnce,
};

async function sweepOnce({ stores, bucketName }: Session): Promise<Answer> {
  const [{ sweep }, { systemClock }, { objectStore }] = await Promise.all([
    import('../../shared/generations/sweep.ts'),
    import('../../shared/base/clock.ts'),
    import('../../shared/images/object-store.ts'),
  ]);
  // Where the bucket is not known, it removes references by itself after a day, and the next sweep erases what was deleted.
  const objects =
    bucketName === null
      ? { deleteReferences: async () => {}, deleteImages: async () => {} }
      : objectStore(bucketName);
  const { generations } = stores;
  const deletions = bucketName === null ? null : stores.deletions;
  const { released, failed } = await sweep({
    generations,
    deletions,
    objects,
    clock: systemClock,
    logFault: () => {},
  });
  const ended =
    released === 0
      ? 'No request was stuck.'
      : `${counted(released, 'stuck request')} ended, with the credits given back.`;
  const left =
    failed === 0 ? '' : ` ${counted(failed, 'request')} could not be ended or erased: sweep again.`;
  return { json: { released, failed }, text: ended + left };
}

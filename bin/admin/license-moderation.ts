import type { License } from '../../shared/licenses/license.ts';
import type { CommandRow } from './command.ts';
import { usageFailure } from '../common/failure.ts';
import { unknownLicense } from './get-license.ts';
import { showLicense } from './license-output.ts';
import { id, line, repeated, threshold } from '../common/values.ts';

interface Options {
  exempt?: boolean;
  threshold?: [string, number][];
  default?: boolean;
  reason?: string;
}

/** A request carries them to the model, and the stored request grows by them. */
const mostThresholds = 8;

const thresholdText =
  "refuse pictures for this category from this score on (nsfw=0.95), instead of the model server's; may be repeated; a category that its classifier does not have does nothing";

export const moderationCommand: CommandRow = {
  name: 'moderation',
  description:
    'how the content of one license is checked, from its next request on: its owner is not told, the audit log is',
  operands: [['<license>', 'its id', id]],
  options: [
    ['--exempt', 'neither its prompts nor its pictures and reference images are checked'],
    ['--threshold <category=score>', thresholdText, repeated(threshold)],
    ['--default', "as everybody's"],
    ['--reason <reason>', 'why, for the audit log; with --exempt and --threshold', line(200)],
  ],
  run(options: Options, licenseId: string) {
    const moderation = moderationOf(options);
    return async (session) => {
      const { stores, nowMs } = session;
      const by = await session.operator();
      const after = await stores.licenses.update(licenseId, { moderation }, by, nowMs);
      if (after === null) throw unknownLicense(licenseId);
      return showLicense(session, after);
    };
  },
};

function moderationOf(options: Options): License['moderation'] {
  const { exempt = false, threshold: thresholds = [], default: usual = false, reason } = options;
  if ([exempt, thresholds.length > 0, usual].filter(Boolean).length !== 1) {
    throw usageFailure('Give --exempt, --threshold or --default, one of the three.');
  }
  if (usual !== (reason === undefined)) {
    throw usageFailure('--exempt and --threshold need --reason, and --default takes none.');
  }
  if (thresholds.length > mostThresholds) throw usageFailure(`At most ${mostThresholds} thresholds.`);
  if (reason === undefined) return null;
  return { rule: exempt ? 'exempt' : Object.fromEntries(thresholds), reason };
}

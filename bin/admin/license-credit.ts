import { newId } from '../../shared/base/ids.ts';
import { addExtraCredits } from '../../shared/licenses/extra-credits-store.ts';
import { extraCreditsExpireAtMs, usualExtraMonths } from '../../shared/licenses/extra-credits.ts';
import { Failure, usageFailure } from '../common/failure.ts';
import { counted, type Answer } from '../common/output.ts';
import type { CommandRow, Session } from './command.ts';
import { getLicense, unknownLicense } from './get-license.ts';
import { showLicense } from './license-output.ts';
import { id, line, time, wholeNumber } from '../common/values.ts';

interface CreditOptions {
  reason: string;
  id?: string;
  expires?: number;
}

/** Credits beside those of the months. */
export const creditCommand: CommandRow = {
  name: 'credit',
  description: "give a license credits beside its months': used after those, until they expire",
  operands: [
    ['<license>', 'its id', id],
    ['<credits>', 'how many', wholeNumber(1, 1_000_000)],
  ],
  options: [
    ['--reason <text>', 'why; the audit log keeps it, for operators', line(200), { required: true }],
    [
      '--id <id>',
      'a name of your own for this gift, as a ticket: the same gives once (default: a new one)',
      id,
    ],
    ['--expires <time>', `when they expire (default: ${usualExtraMonths} months from now)`, time],
  ],
  run: (options: CreditOptions, licenseId: string, amount: number) => (session) =>
    creditLicense(session, licenseId, amount, options),
};

async function creditLicense(
  session: Session,
  licenseId: string,
  amount: number,
  options: CreditOptions,
): Promise<Answer> {
  const { stores, nowMs } = session;
  const license = await getLicense(session, licenseId);
  const { reason, id: paymentId = newId('gift'), expires } = options;
  const expiresAtMs = expires ?? extraCreditsExpireAtMs(nowMs, usualExtraMonths);
  if (expiresAtMs <= nowMs) throw usageFailure('--expires must be later than now.');
  const gift = { licenseId, amount, source: 'grant', paymentId, reason, expiresAtMs } as const;
  const outcome = await addExtraCredits(stores.table, gift, await session.operator(), nowMs);
  if (outcome === 'unknown_license') throw unknownLicense(licenseId);
  if (outcome === 'ended_license') throw new Failure(`The license ${licenseId} has ended for good.`);
  const { json, text } = await showLicense(session, { ...license, extraUntilMs: expiresAtMs });
  const said =
    outcome === 'added'
      ? `${counted(amount, 'credit')} given as ${paymentId}.`
      : `${paymentId} gave ${counted(amount, 'credit')} before: nothing was added.`;
  return { json: { ...json, added: outcome === 'added', paymentId }, text: `${said}\n\n${text}` };
}

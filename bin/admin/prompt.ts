import { Failure } from '../common/failure.ts';
import { isConfirmed, type Terminal } from '../common/prompt.ts';

/** A change that takes access away. */
export interface Reduction {
  /** What will be done, such as "end the license lic_1". */
  what: string;
  /** What its owners lose by it. */
  losses: string[];
}

/** Asks before access is taken away. @throws Failure when it is not confirmed, or stdin is no terminal. */
export async function confirmReduction(
  reduction: Reduction,
  placeName: string,
  terminal: Terminal,
): Promise<void> {
  if (!terminal.input.isTTY) {
    throw new Failure(
      `Nothing was changed: add --yes to ${reduction.what}, as stdin is not a terminal to ask on.`,
    );
  }
  const lines = [
    `On ${placeName}, this will ${reduction.what}:`,
    ...reduction.losses.map((loss) => `  - ${loss}`),
  ];
  if (!(await isConfirmed(lines, 'Go on?', terminal))) {
    throw new Failure('Nothing was changed: it was not confirmed.');
  }
}

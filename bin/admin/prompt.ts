import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { Failure } from '../common/failure.ts';
import { printable } from '../common/output.ts';

/** A change that takes access away. */
export interface Reduction {
  /** What will be done, such as "end the license lic_1". */
  what: string;
  /** What its owners lose by it. */
  losses: string[];
}

export interface Terminal {
  input: Readable & { isTTY?: boolean };
  /** Never stdout, which is for the answer. */
  output: Writable;
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
  terminal.output.write(lines.map((line) => `${printable(line)}\n`).join(''));
  const answer = await askLine('Go on? [y/N] ', terminal);
  if (!/^\s*y(es)?\s*$/i.test(answer)) throw new Failure('Nothing was changed: it was not confirmed.');
}

/** One line from the terminal; empty when it was closed or interrupted instead. */
async function askLine(question: string, { input, output }: Terminal): Promise<string> {
  const lines = createInterface({ input, output });
  const closed = new Promise<null>((resolve) => lines.once('close', () => resolve(null)));
  const answered = lines.question(question).catch(() => null);
  const answer = await Promise.race([answered, closed]);
  lines.close();
  // Without an answer the cursor is still on the line of the question.
  if (answer === null) output.write('\n');
  return answer ?? '';
}

import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { printable } from './output.ts';

export interface Terminal {
  input: Readable & { isTTY?: boolean };
  /** Never stdout, which is for the answer. */
  output: Writable;
}

/** Shows the lines and asks the question. @returns whether the answer was yes. */
export async function isConfirmed(lines: string[], question: string, terminal: Terminal): Promise<boolean> {
  terminal.output.write(lines.map((line) => `${printable(line)}\n`).join(''));
  const answer = await askLine(`${question} [y/N] `, terminal);
  return /^\s*y(es)?\s*$/i.test(answer);
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

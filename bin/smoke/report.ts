import { printable } from '../common/output.ts';
import type { StepResult } from './step.ts';

const marks = { passed: '✓', failed: '✗', skipped: '–' };

/** One line about one check. */
export function stepLine({ name, status, durationMs, reason }: StepResult): string {
  if (status === 'skipped') return printable(`${marks.skipped} ${name}: skipped, ${reason}`);
  const failure = reason === null ? '' : `: ${reason}`;
  return printable(`${marks[status]} ${name} (${durationMs} ms)${failure}`);
}

/** The last line: the result of the run. */
export function summaryLine(results: StepResult[]): string {
  const count = (status: StepResult['status']) => results.filter((result) => result.status === status).length;
  const skipped = count('skipped') === 0 ? '' : `, ${count('skipped')} skipped`;
  return `${count('passed')} passed, ${count('failed')} failed${skipped}`;
}

import { chromiumPath } from './chromium.ts';

/** Ends a run with one line that any program can read. */
export default class ClosingLineReporter {
  onRunComplete(_contexts, { numPassedTests, numFailedTests, numPendingTests, numRuntimeErrorTestSuites }) {
    if (!chromiumPath) {
      process.stdout.write(
        '\nThe browser tests were left out: Chromium is not installed (CHROMIUM can name it).\n',
      );
    }
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : '';
    process.stdout.write(`\n${numPassedTests} passed, ${failed} failed${skipped}\n`);
  }
}

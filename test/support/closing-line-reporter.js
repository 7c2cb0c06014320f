import { chromiumPath } from './chromium.ts';
import { pythonPath } from './python.ts';

/** Ends a run with one line that any program can read. */
export default class ClosingLineReporter {
  constructor(globalConfig) {
    this.wholeRun = globalConfig.nonFlagArgs.length === 0;
  }

  onRunComplete(_contexts, { numPassedTests, numFailedTests, numPendingTests, numRuntimeErrorTestSuites }) {
    if (this.wholeRun && !chromiumPath) {
      process.stdout.write(
        "\nThe dashboard's browser tests were left out: Chromium is not installed (CHROMIUM can name one).\n",
      );
    }
    if (this.wholeRun && !pythonPath) {
      process.stdout.write(
        '\nThe tests of the template by cfn-lint and moto were left out: install them with ' +
          '"python3 -m venv .venv && .venv/bin/pip install -r test/infra/requirements.txt".\n',
      );
    }
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : '';
    process.stdout.write(`\n${numPassedTests} passed, ${failed} failed${skipped}\n`);
  }
}

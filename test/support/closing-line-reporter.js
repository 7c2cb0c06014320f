/** Ends a run with one line that any program can read. */
export default class ClosingLineReporter {
  onRunComplete(_contexts, { numPassedTests, numFailedTests, numPendingTests, numRuntimeErrorTestSuites }) {
    const failed = numFailedTests + numRuntimeErrorTestSuites;
    const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : '';
    process.stdout.write(`\n${numPassedTests} passed, ${failed} failed${skipped}\n`);
  }
}

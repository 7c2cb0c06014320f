import { notPassed } from './guarantees.ts';

/** Fails a run in which a test of docs/guarantees.md did not pass, and ends it with one line that any program can read. */
export default class ClosingLineReporter {
  #patternOfNames;
  #broken = [];

  constructor({ testNamePattern }) {
    this.#patternOfNames = testNamePattern;
  }

  onRunComplete(_contexts, results) {
    const { numPassedTests, numFailedTests, numPendingTests, numRuntimeErrorTestSuites } = results;
    // Who asks for a few tests by their names runs no file whole.
    if (!this.#patternOfNames) this.#broken = notPassed(results.testResults);
    const broken = this.#broken.map(
      ({ file, titles }) => `\nNot passed, and named in docs/guarantees.md: ${file} › ${titles.join(' › ')}`,
    );
    const failed = Math.max(numFailedTests + numRuntimeErrorTestSuites, broken.length);
    const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : '';
    process.stdout.write(`${broken.join('')}\n${numPassedTests} passed, ${failed} failed${skipped}\n`);
  }

  /** Jest fails a run of which a reporter has an error. */
  getLastError() {
    if (this.#broken.length > 0) return new Error('docs/guarantees.md names tests that did not pass.');
  }
}

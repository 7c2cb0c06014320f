import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import jestRunner from 'jest-runner';
import { activeMutant } from './active-mutant.js';

const TestRunner = jestRunner.default ?? jestRunner;

/**
 * Runs one file after the other, the quick ones first. Of a mutant only files with tests that reach it are run, and none
 * once one has found it out. The first run, without a mutant, leaves the names of each file's tests for those that follow.
 */
export default class extends TestRunner {
  async runTests(tests, watcher, options) {
    const isFirst = activeMutant() === undefined;
    const namesFile = join(this._globalConfig.rootDir, 'test-names.json');
    const names = isFirst ? {} : JSON.parse(readFileSync(namesFile, 'utf8'));
    let failed = false;
    const stop = this.on('test-file-success', ([{ path }, result]) => {
      if (isFirst) names[path] = result.testResults.map(({ fullName }) => fullName);
      failed ||= result.numFailingTests > 0;
    });
    for (const test of tests.toSorted((a, b) => (a.duration ?? 0) - (b.duration ?? 0))) {
      const isWanted = isFirst || (!failed && this.#isWanted(names[test.path]));
      if (isWanted) await super.runTests([test], watcher, options);
    }
    stop();
    if (isFirst) writeFileSync(namesFile, JSON.stringify(names));
  }

  #isWanted(fullNames) {
    const { testNamePattern } = this._globalConfig;
    return (
      !testNamePattern ||
      fullNames === undefined ||
      fullNames.some((name) => new RegExp(testNamePattern, 'i').test(name))
    );
  }
}

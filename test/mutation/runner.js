import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import jestRunner from 'jest-runner';
import { activeMutant } from './active-mutant.js';
import { distance, mutantFiles } from './reach.js';

const TestRunner = jestRunner.default ?? jestRunner;

let fileOf;

/**
 * Runs one file after the other. Of a mutant only files with tests that reach it are run, the nearest first, and none
 * once one has found it out. Of a mutant that is met while its module loads nobody knows which tests reach it: all do whose
 * file imports it. The first run, without a mutant, leaves the names of each file's tests for those that follow.
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
    for (const test of isFirst ? tests : this.#inOrder(tests)) {
      const isWanted = isFirst || (!failed && this.#isWanted(names[test.path]));
      if (isWanted) await super.runTests([test], watcher, options);
    }
    stop();
    if (isFirst) writeFileSync(namesFile, JSON.stringify(names));
  }

  #inOrder(tests) {
    fileOf ??= mutantFiles(this._globalConfig.rootDir);
    const file = fileOf(activeMutant());
    return tests
      .map((test) => ({ test, steps: distance(test.path, file), duration: test.duration ?? 0 }))
      .filter(({ steps }) => steps < Infinity)
      .toSorted((a, b) => a.steps - b.steps || a.duration - b.duration)
      .map(({ test }) => test);
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

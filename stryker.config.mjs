/** What all runs of `npm run mutation` share; test/mutation/run.ts adds the folder and its tests. */
export default {
  testRunner: 'jest',
  testRunnerNodeArgs: ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
  plugins: ['@stryker-mutator/jest-runner'],
  jest: { configFile: 'test/mutation/jest.config.js' },
  coverageAnalysis: 'perTest',
  disableTypeChecks: false,
  // TypeScript 7 cannot be asked to read its configuration, as Stryker would.
  ignorePatterns: ['.*', 'cdk.out', 'coverage', 'dashboard/dist', 'tsconfig.json'],
  tempDirName: '.stryker/tmp',
  cleanTempDir: 'always',
  reporters: ['clear-text', 'json', 'html', 'progress-append-only'],
  clearTextReporter: { allowColor: false, allowEmojis: false, reportTests: false, skipFull: true },
  thresholds: { high: 95, low: 90, break: null },
};

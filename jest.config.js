import { chromiumPath } from './test/support/chromium.ts';
import { pythonPath } from './test/support/python.ts';

/** One project per engine that really runs; every file is TypeScript, transformed by esbuild. */
const common = {
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/support/esbuild-transform.js' },
  testEnvironment: 'node',
  // What mutation testing leaves has copies of this package.
  modulePathIgnorePatterns: ['<rootDir>/.stryker'],
};

export default {
  projects: ['unit', 'infra', 'engine', 'http', 'browser'].map((name) => ({
    ...common,
    displayName: name,
    // The browser's tests need Chromium, which not everybody has; the closing lines say when they were left out.
    testMatch: [`<rootDir>/test/${name === 'browser' && !chromiumPath ? 'nothing' : name}/**/*.test.ts`],
    // So it is with the judges of the template that are Python's.
    testPathIgnorePatterns: [
      '/node_modules/',
      ...(pythonPath ? [] : ['/test/infra/(cfn-lint|emulator)\\.test\\.ts$']),
    ],
  })),
  reporters: ['default', '<rootDir>/test/support/closing-line-reporter.js'],
  testTimeout: 30_000,
  // Services, engines and painters run beside the tests: two at a time is what a small machine bears.
  maxWorkers: 2,
};

import { fileURLToPath } from 'node:url';

const here = (file) => fileURLToPath(new URL(file, import.meta.url));

/** The suites as `jest.config.js` runs them, but that no more is run of a mutant than it takes to kill it. */
export default {
  rootDir: here('../..'),
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': here('../support/esbuild-transform.js') },
  testEnvironment: here('environment.js'),
  runner: here('runner.js'),
  // A mutant that hangs counts as killed.
  testTimeout: 10_000,
};

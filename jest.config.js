/** One project per engine that really runs; every file is TypeScript, transformed by esbuild. */
const common = {
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/support/esbuild-transform.js' },
  testEnvironment: 'node',
};

/** The folders of each project. `npm test` runs all but `browser`, `long`, `abuse` and `emulated`, which are steps of `npm run test:long`. */
const projects = {
  unit: ['test/unit/**'],
  infra: ['test/infra/**'],
  engine: ['test/engine/**'],
  http: ['test/http/**'],
  painter: ['painter/test'],
  'model-contract': ['test/model-contract'],
  browser: ['test/browser/**'],
  long: ['test/long/**', 'painter/test/long'],
  emulated: ['test/emulated'],
  abuse: ['test/abuse'],
};

export default {
  projects: Object.entries(projects).map(([name, folders]) => ({
    ...common,
    displayName: name,
    // Else each project reads every file of the repository before it starts.
    roots: folders.map((folder) => `<rootDir>/${folder.replace('/**', '')}`),
    // Not below <rootDir>: a bracket in its path would be read as a pattern.
    testMatch: folders.map((folder) => `**/${folder}/*.test.ts`),
    ...(name === 'browser' && { testEnvironment: '<rootDir>/test/support/failure-environment.js' }),
    ...(name === 'http' && {
      globalSetup: '<rootDir>/test/support/shared-service-setup.ts',
      globalTeardown: '<rootDir>/test/support/shared-service-teardown.ts',
    }),
  })),
  reporters: ['default', '<rootDir>/test/support/closing-line-reporter.js'],
  // Generous, because the machine may be busy with other things.
  testTimeout: 120_000,
  // One more than two cores: a test that waits for its service leaves a core to the others.
  maxWorkers: 3,
  // A worker keeps the modules of every file that it has run: it is ended before its heap takes a second to sweep.
  workerIdleMemoryLimit: '1GB',
};

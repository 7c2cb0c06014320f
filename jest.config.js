/** One project per engine that really runs; every file is TypeScript, transformed by esbuild. */
const common = {
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/support/esbuild-transform.js' },
  testEnvironment: 'node',
};

export default {
  projects: ['unit', 'engine', 'http'].map((name) => ({
    ...common,
    displayName: name,
    testMatch: [`<rootDir>/test/${name}/**/*.test.ts`],
  })),
  testTimeout: 30_000,
};

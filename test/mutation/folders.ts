interface Folder {
  /** What is changed, below `shared/`. */
  code: string;
  /** Which tests judge it. */
  tests: readonly string[];
}

/** The rules of money, the stores and the workflow. No test that judges them speaks HTTP to the service. */
export const folders = {
  domain: {
    code: '{billing,domain}/**/*.ts',
    tests: ['unit/domain/**/*', 'unit/billing/*', 'unit/period-tallies'],
  },
  store: {
    code: 'store/**/*.ts',
    tests: [
      'unit/*',
      'engine/billing/subscriptions',
      'engine/workflow/{generation-records,history,identities,keys,licenses,table-reads}',
    ],
  },
  workflow: {
    code: 'workflow/**/*.ts',
    tests: ['unit/*', 'unit/workflow/*', 'engine/references/function', 'engine/workflow/{references,runs}'],
  },
} as const satisfies Record<string, Folder>;

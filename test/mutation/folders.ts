/** Which tests judge a folder of `shared/`. None of them speaks HTTP to the service: each guarantee is held where it is made. */
export const folders = {
  domain: ['unit/domain/**/*', 'unit/billing/*', 'unit/period-tallies'],
  store: [
    'unit/*',
    'engine/billing/subscriptions',
    'engine/workflow/{catalog,generation-records,history,key-records,key-roster,license-records,table-reads}',
  ],
  workflow: [
    'unit/*',
    'unit/workflow/*',
    'engine/references/function',
    'engine/workflow/{metrics,references}',
  ],
} as const;

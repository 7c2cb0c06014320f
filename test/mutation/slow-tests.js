/** Tests of many rounds or long waits, which take seconds each. Other tests hold their rules by one example. */
export const slowTests = new Set([
  'four that never end are given up together',
  'however the events of a life are handled at once, one license comes out of them',
]);

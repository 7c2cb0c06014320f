/** Tests of many rounds or long waits, which take seconds each. Other tests hold their rules by one example. */
export const slowTests = new Set([
  '40 keys issued at once: exactly 25 find room, whatever is read in between',
  'four that never end share one time limit, and are given up together',
  'however issuing and revoking interleave, the roster is the active keys, at most 25',
  'however the events of a life are handled at once, one license comes out of them',
]);

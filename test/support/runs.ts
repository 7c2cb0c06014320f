/** How often a property is tried: ten times as often in `npm run test:long -- --full`. */
export function runs(usual: number): number {
  return process.env.MANY_RUNS ? 10 * usual : usual;
}

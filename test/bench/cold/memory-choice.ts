import type { MemoryFigures } from './cold-start.ts';

/** What a warm call of a function costs, a million times, at one size. */
export interface MemoryOption extends MemoryFigures {
  usdPerMillion: number;
  /** Why it is not to be chosen; null where it is. */
  problem: string | null;
}

/** Free memory that a function keeps, as a share of what it used here. */
const headroom = 0.4;
/** Of one warm call, for the function's own work; more where a model is waited for anyway. */
const maxWarmMs = 100;
const maxWarmMsOfWaiting = 250;

/**
 * Milliseconds × memory at Lambda's price, without the price of the request, which is the same at every size.
 * @param waitMs of a call in which the function only waits, for the model
 */
export function callCostUsd(
  { memoryMb, warmMs }: { memoryMb: number; warmMs: number },
  waitMs: number,
  usdPerGbSecond: number,
): number {
  // Billed by the started millisecond.
  return (Math.ceil(warmMs + waitMs) / 1000) * (memoryMb / 1024) * usdPerGbSecond;
}

export function optionsOf(
  figures: MemoryFigures[],
  waitMs: (functionName: string) => number,
  usdPerGbSecond: number,
): MemoryOption[] {
  return figures.map((of) => {
    const wait = waitMs(of.functionName);
    const usdPerMillion = 1_000_000 * callCostUsd(of, wait, usdPerGbSecond);
    return { ...of, usdPerMillion, problem: problemOf(of, wait > 0 ? maxWarmMsOfWaiting : maxWarmMs) };
  });
}

function problemOf({ rssMb, memoryMb, warmMs }: MemoryFigures, mostMs: number): string | null {
  if (rssMb * (1 + headroom) > memoryMb) return 'too little memory';
  return warmMs > mostMs ? `a warm call over ${mostMs} ms` : null;
}

/** The cheapest size without a problem, for each function; null where none is. */
export function proposals(options: MemoryOption[]): { functionName: string; memoryMb: number | null }[] {
  const names = [...new Set(options.map(({ functionName }) => functionName))];
  return names.map((functionName) => {
    const fit = options.filter((of) => of.functionName === functionName && of.problem === null);
    fit.sort((a, b) => a.usdPerMillion - b.usdPerMillion);
    return { functionName, memoryMb: fit[0]?.memoryMb ?? null };
  });
}

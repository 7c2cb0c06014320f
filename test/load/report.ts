import type { Books } from './books.ts';
import type { Ledger } from './ledger.ts';
import type { Sample } from './probe.ts';

export interface Run {
  ledger: Ledger;
  books: Books;
  samples: Sample[];
  durationMs: number;
  /** What the model container did, and how often. */
  container: Record<string, number>;
}

/** What was seen, for people to read. */
export function describe({ ledger, books, samples, durationMs, container }: Run): string {
  const operations = Object.keys(ledger.outcomes).toSorted();
  const total = Object.values(ledger.durations).reduce((sum, { length }) => sum + length, 0);
  return [
    `${total} answers in ${Math.round(durationMs / 1000)} s, ${(total / (durationMs / 1000)).toFixed(0)} a second.`,
    '\nAnswers:',
    ...operations.map((name) => `  ${name}: ${listed(ledger.outcomes[name]!)}`),
    '\nLatency in ms, p50 / p99 / largest:',
    ...operations
      .filter((name) => ledger.durations[name])
      .map((name) => latency(name, ledger.durations[name]!)),
    `\nThe model: ${listed(container)}`,
    `Stored: ${books.generations} requests, ${books.completed} COMPLETED, ${books.images} images looked up.`,
    ...describeProcess(samples),
    `\nViolations: ${ledger.violationCount}`,
    ...ledger.violations.map((sentence) => `  ${sentence}`),
  ].join('\n');
}

function listed(counts: Record<string, number>): string {
  return Object.entries(counts)
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');
}

function latency(name: string, durations: number[]): string {
  const sorted = durations.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
  return `  ${name}: ${[0.5, 0.99, 1].map((share) => at(share).toFixed(0)).join(' / ')}`;
}

/** The first fifth warms up. What leaks is larger in the last fifth than in the second. */
function describeProcess(samples: Sample[]): string[] {
  const fifth = (n: number) =>
    samples.slice(Math.floor((n * samples.length) / 5), Math.floor(((n + 1) * samples.length) / 5));
  const [early, late] = [fifth(1), fifth(4)];
  if (early.length === 0 || late.length === 0) return ['\nThe run was too short to sample the process.'];
  const compare = (what: string, of: (sample: Sample) => number) => {
    const [before, after] = [median(early.map(of)), median(late.map(of))];
    const change = (100 * (after - before)) / before;
    return `  ${what}: ${before.toFixed(0)} → ${after.toFixed(0)} (${change >= 0 ? '+' : ''}${change.toFixed(0)}%)`;
  };
  const live = samples.flatMap(({ liveHeapBytes }) => liveHeapBytes ?? []);
  const megabytes = (bytes: number) => bytes / 1024 / 1024;
  return [
    `\nThe service's process, medians of the second and the last fifth of ${samples.length} samples:`,
    compare('resident memory, MiB', ({ rssBytes }) => megabytes(rssBytes)),
    compare('heap, MiB', ({ heapBytes }) => megabytes(heapBytes)),
    compare('open resources', ({ resources }) => resources),
    compare('event loop delay p99, ms', ({ loopP99Ms }) => loopP99Ms),
    `  longest event loop delay: ${Math.max(...samples.map(({ loopMaxMs }) => loopMaxMs)).toFixed(0)} ms`,
    `  heap after collections, MiB: ${live.map((bytes) => megabytes(bytes).toFixed(0)).join(' ')}`,
    `  resident memory, MiB: ${samples.map(({ rssBytes }) => megabytes(rssBytes).toFixed(0)).join(' ')}`,
  ];
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}

import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { generationProblem } from '../bench/overhead.ts';
import { parseStat, useOfGroup } from '../bench/process-use.ts';
import { median, medians, percentile } from '../bench/statistics.ts';
import { sequentialTrips } from '../bench/table-use.ts';

describe('the figures of the bench', () => {
  test('a percentile is a value that was measured, by nearest rank', () => {
    const values = Array.from({ length: 200 }, (_, i) => 200 - i);
    expect([0.5, 0.99, 1].map((share) => percentile(values, share))).toEqual([100, 198, 200]);
    expect(percentile([7], 0.01)).toBe(7);
  });

  test('the median of an even number is between the two in the middle, and of nothing there is none', () => {
    expect(median([4, 1, 3, 2])).toBe(2.5);
    const rounds = [1, 2, 30].map((a) => ({ a, b: 10 - a }));
    expect(medians(rounds)).toEqual({ a: 2, b: 8 });
    expect(() => median([])).toThrow('Nothing was measured');
  });

  test('calls side by side are one trip, and the longest chain of calls that waited counts', () => {
    const span = (beginMs: number, endMs: number) => ({ beginMs, endMs });
    expect(sequentialTrips([])).toBe(0);
    expect(sequentialTrips([span(0, 10), span(1, 11), span(2, 9)])).toBe(1);
    expect(sequentialTrips([span(20, 30), span(0, 10), span(10, 20)])).toBe(3);
    // Begun while the second of three still ran: it can have waited for the first alone.
    expect(sequentialTrips([span(0, 10), span(10, 30), span(20, 40), span(31, 50)])).toBe(3);
  });

  test('an answer counts only when it is a generation that was charged, with a signed link', () => {
    const link = `https://x/?X-Amz-Signature=${'a'.repeat(64)}`;
    const answer = (output: string, creditsCharged: number) =>
      JSON.stringify({ outputs: [output], usage: { creditsCharged } });
    expect(generationProblem(200, answer(link, 1))).toBeNull();
    expect(generationProblem(503, answer(link, 1))).toBe('not 200');
    expect(generationProblem(200, answer('https://x/', 1))).toBe('without a signed link');
    expect(generationProblem(200, answer(link, 0))).toBe('without a charge');
  });

  test('the processor time of a process is that of user and kernel mode, of its ended children too', () => {
    const stat = (name: string) =>
      `42 (${name}) S 7 5 1 0 -1 4194304 100 0 0 0 100 20 3 4 20 0 11 0 500 900000 50 18446744073709551615`;
    const expected = { groupId: 5, cpuUs: 1_270_000, rssBytes: 50 * 4096 };
    for (const name of ['node', 'a) S 1 (b']) expect(parseStat(stat(name))).toEqual(expected);
    expect(() => parseStat('42 (node) S 7')).toThrow('/proc/PID/stat');
    const own = parseStat(readFileSync('/proc/self/stat', 'latin1'));
    expect(useOfGroup(own.groupId).cpuUs).toBeGreaterThan(0);
  });
});

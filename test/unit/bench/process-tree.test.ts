import { expect, test } from '@jest/globals';
import { parseStat, readTree, treeOf, useOf } from '../../bench/process-tree.ts';

/** As Linux writes it, with the fields that count filled in. */
const stat = (
  pid: number,
  name: string,
  parentPid: number,
  ticks: [number, number, number, number],
  rss = 0,
) =>
  `${pid} (${name}) S ${parentPid} 1 1 0 -1 4194304 100 0 0 0 ${ticks.join(' ')} 20 0 11 0 500 900000 ${rss} 18446744073709551615`;

test('processor time is that of user and kernel mode, of ended children too', () => {
  expect(parseStat(stat(42, 'node', 7, [100, 20, 3, 4], 50))).toEqual({
    pid: 42,
    parentPid: 7,
    ticks: 127,
    rssPages: 50,
  });
});

test('a name may hold spaces and parentheses', () => {
  expect(parseStat(stat(42, 'a) S 1 (b', 7, [1, 0, 0, 0]))).toMatchObject({ parentPid: 7, ticks: 1 });
});

test('something else is refused', () => {
  expect(() => parseStat('')).toThrow('/proc/PID/stat');
  expect(() => parseStat('42 (node) S 7')).toThrow('/proc/PID/stat');
});

test('a tree is a process, its children and theirs, whatever their order', () => {
  const all = [
    stat(30, 'grandchild', 20, [1, 0, 0, 0], 1),
    stat(20, 'child', 10, [2, 0, 0, 0], 2),
    stat(99, 'stranger', 1, [50, 0, 0, 0], 50),
    stat(10, 'root', 1, [4, 0, 0, 0], 4),
  ].map(parseStat);
  const members = treeOf(10, all);
  expect(members.map(({ pid }) => pid)).toEqual([10, 20, 30]);
  expect(useOf(members)).toEqual({ cpuUs: 70_000, rssBytes: 7 * 4096 });
});

test('this process has used some', () => {
  const { cpuUs, rssBytes } = readTree(process.pid);
  expect(cpuUs).toBeGreaterThan(0);
  expect(rssBytes).toBeGreaterThan(1_000_000);
});

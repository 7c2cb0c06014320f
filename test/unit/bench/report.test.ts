import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { documentPath, fillDocument } from '../../bench/document.ts';
import { figure, sectionsOf, sectionTitles, targetsTable } from '../../bench/report.ts';
import { isMet, targetsOf } from '../../bench/targets.ts';
import type { Results } from '../../bench/results.ts';
import { generationProblem, openAiProblem } from '../../bench/overhead/load.ts';

const hardware = { processor: 'P', cores: 2, memoryGb: 8, kernel: '6' };
const versions = { commit: 'abc', node: '24', portkey: '1', litellm: '1' };
const machine = { measuredOn: '2026-01-01', ...hardware, ...versions };
const measured = { addedP50Ms: 1, addedP99Ms: 2, requestsPerSecond: 3, rssMb: 4, cpuSpread: 0.1 };
const server = (name: string, cpuUsPerRequest: number) => ({ name, cpuUsPerRequest, ...measured });
const overhead = (cpu: Record<string, number>) => ({
  rounds: 1,
  stubP50Ms: 0.1,
  servers: Object.entries(cpu).map(([name, us]) => server(name, us)),
  leftOut: [],
});

test('a ratio is ours over theirs, and met up to the target itself', () => {
  const cpu = { 'this service': 500, Portkey: 250, LiteLLM: 1000 };
  const lines = targetsOf({ machine, overhead: overhead(cpu) });
  expect(lines.map(({ value }) => value)).toEqual([0.5, 2]);
  expect(lines.map(isMet)).toEqual([true, false]);
  expect(targetsTable(lines)).toMatch(/0\.5 × \| met .*\n.*2 × \| \*\*missed\*\*/);
});

test('what was not measured has no target and no section', () => {
  const results: Results = { machine, overhead: overhead({ 'this service': 500, Portkey: 250 }) };
  expect(targetsOf(results)).toHaveLength(1);
  expect(Object.keys(sectionsOf(results))).toEqual(['machine', 'targets', 'overhead']);
});

test('what was left out is told below its table', () => {
  const told = 'LiteLLM is left out: there is no python3 here.';
  const results: Results = { machine, overhead: { ...overhead({ 'this service': 500 }), leftOut: [told] } };
  expect(sectionsOf(results).overhead).toMatch(new RegExp(`ms\\.\n\n${told}$`));
});

test('figures have as many digits as tell something', () => {
  expect([0.123, 9.876, 12.34, 1234.5].map(figure)).toEqual(['0.12', '9.88', '12.3', '1,235']);
});

test('a document is filled between its markers, again and again, and must have a place', () => {
  const place = (name: string, text: string) => `<!-- bench: ${name} -->\n\n${text}\n\n<!-- /bench -->\n`;
  const empty = `a\n${place('x', 'old')}b\n${place('y', 'kept')}`;
  const filled = fillDocument(empty, { x: 'new' });
  expect(filled).toBe(empty.replace('old', 'new'));
  expect(fillDocument(filled, { x: 'new' })).toBe(filled);
  expect(() => fillDocument(empty, { z: 'new' })).toThrow('no place for z');
});

test('an answer counts only when it is what the server is for', () => {
  const link = `https://x/?X-Amz-Signature=${'a'.repeat(64)}`;
  const answer = (outputs: string[], creditsCharged: number) =>
    JSON.stringify({ outputs, usage: { creditsCharged } });
  expect(generationProblem(200, answer([link], 1))).toBeNull();
  expect(generationProblem(503, answer([link], 1))).toBe('not 200');
  expect(generationProblem(200, answer(['https://x/'], 1))).toBe('without a signed link');
  expect(generationProblem(200, answer([link], 0))).toBe('without a charge');
  expect(generationProblem(200, '<html>')).toBe('without a charge');
  expect(openAiProblem(200, '{"data":[{"url":"https://x"}]}')).toBeNull();
  expect(openAiProblem(200, '{"data":[]}')).toBe('without an image');
});

test('docs/performance.md has a place for every table', () => {
  const text = readFileSync(documentPath, 'utf8');
  const parts = Object.fromEntries(Object.keys(sectionTitles).map((name) => [name, '']));
  expect(() => fillDocument(text, parts)).not.toThrow();
});

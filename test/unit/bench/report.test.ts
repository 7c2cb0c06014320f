import { expect, test } from '@jest/globals';
import { fillDocument } from '../../bench/document.ts';
import { packageOf, sharesOf } from '../../bench/profile-shares.ts';
import { figure, sectionsOf, targetsTable } from '../../bench/report.ts';
import { isMet, targetsOf } from '../../bench/targets.ts';
import type { Results } from '../../bench/results.ts';
import { generationProblem, openAiProblem } from '../../bench/overhead/load.ts';

const machine = {
  measuredOn: '2026-01-01',
  commit: 'abc',
  processor: 'P',
  cores: 2,
  memoryGb: 8,
  kernel: '6',
  node: '24',
  portkey: '1',
  litellm: '1',
};
const server = (name: string, cpuUsPerRequest: number) => ({
  name,
  addedP50Ms: 1,
  addedP99Ms: 2,
  cpuUsPerRequest,
  requestsPerSecond: 3,
  rssMb: 4,
  cpuSpread: 0.1,
});
const overhead = (cpu: Record<string, number>) => ({
  rounds: 1,
  stubP50Ms: 0.1,
  servers: Object.entries(cpu).map(([name, us]) => server(name, us)),
  leftOut: [],
});

test('a ratio is ours over theirs, and met up to the target itself', () => {
  const results: Results = {
    machine,
    overhead: overhead({ 'this service': 500, Portkey: 250, LiteLLM: 1000 }),
  };
  const lines = targetsOf(results);
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
  const empty =
    'a\n<!-- bench: x -->\n\nold\n\n<!-- /bench -->\nb\n<!-- bench: y -->\n\nkept\n\n<!-- /bench -->\n';
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

test('a package is known by the innermost node_modules', () => {
  expect(packageOf('../node_modules/a/node_modules/@s/b/dist/c.js')).toBe('@s/b');
  expect(packageOf('../shared/store/table.ts')).toBe("the service's own code");
});

test('time in which nothing ran counts for nobody', () => {
  const callFrame = (functionName: string, url: string) => ({
    functionName,
    url,
    lineNumber: 0,
    columnNumber: 0,
  });
  const profile = {
    nodes: [
      { id: 1, callFrame: callFrame('(idle)', '') },
      { id: 2, callFrame: callFrame('parserOnHeaders', 'node:_http_common') },
      { id: 3, callFrame: callFrame('digest', 'node:internal/crypto/hash') },
    ],
    samples: [1, 2, 3, 2],
    timeDeltas: [1000, 10, 20, 30],
  };
  const shares = sharesOf(profile, { version: 3, sources: [], mappings: '' } as never);
  expect(Object.fromEntries(shares)).toEqual({
    'Node.js: HTTP, sockets, streams': 40,
    'Node.js: cryptography': 20,
  });
});

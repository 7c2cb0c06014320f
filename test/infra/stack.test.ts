import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { templateOf } from '../support/stack-templates.ts';
import { keptIds, keptIdsPath, summaryPath, templateSummary } from './template-summary.ts';

test('a changed resource count or permission shows up in a review (else run "npx node test/infra/template-summary.ts --write")', () => {
  expect(templateSummary()).toBe(readFileSync(summaryPath, 'utf8'));
});

describe('logical ids', () => {
  const kept = readFileSync(keptIdsPath, 'utf8').trimEnd().split('\n');
  const now = keptIds();

  test('of data, and of everything with a fixed name, never change', () => {
    expect(kept.filter((line) => !now.includes(line))).toEqual([]);
  });

  test('of new data and names are known (else run "npx node test/infra/template-summary.ts --write")', () => {
    expect(now.filter((line) => !kept.includes(line))).toEqual([]);
  });
});

test('two syntheses of one configuration are the same', () => {
  expect(templateOf('everythingAgain')).toEqual(templateOf('everything'));
});

import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { templateOf } from '../support/stack-templates.ts';
import { summaryPath, templateSummary } from './template-summary.ts';

test('a changed resource count, id of data or permission shows up in a review (else run "npx node test/infra/template-summary.ts --write")', () => {
  expect(templateSummary()).toBe(readFileSync(summaryPath, 'utf8'));
});

test('two syntheses of one configuration are the same', () => {
  expect(templateOf('everythingAgain')).toEqual(templateOf('everything'));
});

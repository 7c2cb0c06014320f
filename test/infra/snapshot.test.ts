import { expect, test } from '@jest/globals';
import { templateOf } from '../support/stack.ts';
import { everything } from '../support/synthesized.ts';

/** Hashes of contents change with every line of code; what a reviewer should see is everything else. */
function withoutHashes(text: string): string {
  return text
    .replace(/\b[0-9a-f]{64}\b/g, '<hash>')
    .replace(/(Deployment[0-9A-F]{8})[0-9a-f]{32}/g, '$1<hash>');
}

test('a change of what is deployed is seen in a review', () => {
  const template = JSON.stringify(templateOf(everything).toJSON(), null, 1);
  expect(withoutHashes(template)).toMatchSnapshot();
});

test('two syntheses of one configuration are the same', () => {
  expect(templateOf(everything).toJSON()).toEqual(templateOf(everything).toJSON());
});

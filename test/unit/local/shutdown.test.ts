import { expect, test } from '@jest/globals';
import { shutdownSentence } from '../../../local/shutdown.ts';

test.each([
  [0, 0, 0, 'No request was running.'],
  [1, 0, 0, '1 request finished.'],
  [2, 1, 0, '2 requests finished, 1 request stopped without a charge.'],
  [0, 0, 1, '1 request left to the next start, which ends what is open.'],
])('who stops the service reads how requests ended: %i, %i, %i', (finished, stopped, left, sentence) => {
  expect(shutdownSentence({ finished, stopped, left })).toBe(sentence);
});

import { expect, test } from '@jest/globals';
import { shutdownSentence, type ShutdownCounts } from '../../../local/shutdown.ts';

const none = { finished: 0, stopped: 0, left: 0 };

test.each<[Partial<ShutdownCounts>, string]>([
  [{}, 'No request was running.'],
  [{ finished: 1 }, '1 request finished.'],
  [{ finished: 2, stopped: 1 }, '2 requests finished, 1 was stopped and cost nothing.'],
  [{ stopped: 1 }, '1 request was stopped and cost nothing.'],
  [{ stopped: 2 }, '2 requests were stopped and cost nothing.'],
  [{ finished: 1, stopped: 2 }, '1 request finished, 2 were stopped and cost nothing.'],
  [{ left: 1 }, '1 request was left to the next start, which ends what is open.'],
  [
    { finished: 3, stopped: 1, left: 2 },
    '3 requests finished, 1 was stopped and cost nothing, 2 were left to the next start, which ends what is open.',
  ],
])('who stops the service is told of %j in a sentence', (counts, sentence) => {
  expect(shutdownSentence({ ...none, ...counts })).toBe(sentence);
});

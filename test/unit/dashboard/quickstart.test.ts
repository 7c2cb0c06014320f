import { expect, test } from '@jest/globals';
import type { IdentityAnswer } from '../../../shared/contracts/identity.ts';
import { identityToShow } from '../../../dashboard/src/screens/quickstart/identity-choice.ts';
import {
  defaultPrompt,
  promptProblem,
  samplePrompt,
} from '../../../dashboard/src/screens/quickstart/prompt.ts';
import { answerFields, sampleAnswer } from '../../../dashboard/src/screens/quickstart/sample-answer.ts';

function identity(id: string, available: boolean): IdentityAnswer {
  return { id, name: id, slug: id, description: '', productPhotos: false, available };
}

test('the samples use the first identity that is available until another is chosen', () => {
  const identities = [identity('idn_a', false), identity('idn_b', true), identity('idn_c', true)];
  expect(identityToShow(identities, null).id).toBe('idn_b');
  expect(identityToShow(identities, 'idn_c').id).toBe('idn_c');
});

test('a choice that the license does not have falls back, as after a change of license', () => {
  expect(identityToShow([identity('idn_b', true)], 'idn_gone').id).toBe('idn_b');
});

test('without an available identity the samples still name one, or say where it goes', () => {
  expect(identityToShow([identity('idn_a', false)], null).id).toBe('idn_a');
  expect(identityToShow([], null).id).toBe('YOUR_IDENTITY_ID');
});

test('the samples send the entered prompt unless the service would refuse it', () => {
  expect(samplePrompt('a "quoted" fox')).toBe('a "quoted" fox');
  expect(samplePrompt('  ')).toBe(defaultPrompt);
  expect(samplePrompt('🎨'.repeat(1000))).toBe('🎨'.repeat(1000));
  expect(samplePrompt('🎨'.repeat(1001))).toBe(defaultPrompt);
  expect(promptProblem('x'.repeat(1001))).toBe('Use at most 1000 characters; these are 1001.');
});

test('every member of the sample answer is explained, in its order', () => {
  const answer = sampleAnswer({
    requestId: '019b1c7e-5d20-7f3a-9c41-6b0e8d52a7f4',
    identity: { id: 'idn_a', name: 'aurora' },
    creditsLimit: 500,
    periodResetDate: '2026-12-21T12:00:00.000Z',
  });
  expect(Object.keys(answerFields)).toEqual(Object.keys(answer));
  expect(answer.usage).toMatchObject({ creditsUsed: 1, creditsRemaining: 499, creditsLimit: 500 });
});

import type { IdentityAnswer } from '../../api/types.ts';

/** Where a sample has to be filled in by hand. */
const standIn = { id: 'YOUR_IDENTITY_ID', name: 'your identity', description: '' };

/** The chosen identity, or the first that is available, or the first of all, or words that stand for one. */
export function identityToShow(
  identities: readonly IdentityAnswer[],
  chosenId: string | null,
): Pick<IdentityAnswer, 'id' | 'name' | 'description'> {
  return (
    identities.find(({ id }) => id === chosenId) ??
    identities.find(({ available }) => available) ??
    identities[0] ??
    standIn
  );
}

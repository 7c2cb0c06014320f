import type { IdentityAnswer } from '../../../api/types.ts';

interface Choice {
  identityId: string;
  /** Where one had to be found: the others that the user may choose. */
  others: IdentityAnswer[];
  note: string | null;
}

/**
 * The identity for a picture that becomes a reference image: its own, else the one in the form, else the first that takes
 * reference images, so that nobody pays for an image without the reference.
 * @returns a sentence where no identity can be used
 */
export function chooseForReference(
  identities: readonly IdentityAnswer[],
  own: { id: string; name: string },
  presentId: string,
): Choice | { problem: string } {
  const takers = identities.filter(({ productPhotos, available }) => productPhotos && available);
  if (takers.some(({ id }) => id === own.id)) return { identityId: own.id, others: [], note: null };
  const present = takers.find(({ id }) => id === presentId);
  const why = whyNot(identities, own);
  if (present !== undefined) {
    return { identityId: presentId, others: [], note: `${why}. ${present.name}, which is chosen, does.` };
  }
  const [taker, ...others] = takers;
  if (taker === undefined) return { problem: noTaker(identities) };
  const note = `${why}. ${taker.name}, which takes reference images, is chosen instead.`;
  return { identityId: taker.id, others, note };
}

function whyNot(identities: readonly IdentityAnswer[], own: { id: string; name: string }): string {
  const known = identities.find(({ id }) => id === own.id);
  if (known === undefined) return `Your license does not cover ${own.name}`;
  return known.productPhotos
    ? `${own.name} has no active model right now`
    : `${own.name} takes no reference images`;
}

function noTaker(identities: readonly IdentityAnswer[]): string {
  const asleep = identities.filter(({ productPhotos }) => productPhotos).map(({ name }) => name);
  return asleep.length === 0
    ? 'None of your license’s identities takes reference images.'
    : `Of your license’s identities ${asleep.join(' and ')} takes reference images, but has no active model right now.`;
}

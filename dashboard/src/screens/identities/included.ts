import { hasAllWords, searchWords } from '../../../../shared/base/search.ts';
import type { IdentityAnswer, LicenseAnswer } from '../../lib/types.ts';

/**
 * The licenses that include an identity and can be used now. The API does not say which identities the founding catalog
 * has: one that no license lists by itself can only have come with the catalog.
 */
export function licensesWith(
  { id }: Pick<IdentityAnswer, 'id'>,
  licenses: readonly LicenseAnswer[],
): LicenseAnswer[] {
  const usable = licenses.filter((license) => license.usable);
  const isListed = usable.some(({ identityIds }) => identityIds.includes(id));
  return usable.filter(
    ({ identityIds, foundingCatalog }) => identityIds.includes(id) || (foundingCatalog && !isListed),
  );
}

/** Whether every word of a search is in what the identity says of itself. */
export function hasWords({ name, slug, description, triggerWords }: Searched, search: string): boolean {
  return hasAllWords([name, slug, description, ...triggerWords].join(' '), searchWords(search));
}

type Searched = Pick<IdentityAnswer, 'name' | 'slug' | 'description' | 'triggerWords'>;

/** What a sample shows, for people who don't see it. */
export function sampleText(identity: Pick<IdentityAnswer, 'name' | 'samples'>, index: number): string {
  const { prompt } = identity.samples[index]!;
  if (prompt !== null) return prompt;
  return identity.samples.length === 1
    ? `Sample of ${identity.name}`
    : `Sample ${index + 1} of ${identity.name}`;
}

/** Without a version it is the active one. */
export function playgroundAddress(
  identityId: string,
  { version, compare, prompt }: { version?: number | undefined; compare?: number; prompt?: string } = {},
): string {
  const query = new URLSearchParams({
    identity: identityId,
    ...(version !== undefined && { version: String(version) }),
    ...(compare !== undefined && { compare: String(compare) }),
    ...(prompt !== undefined && { prompt }),
  });
  return `/playground?${query.toString()}`;
}

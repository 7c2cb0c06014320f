import type { IdentityDetail } from '../../lib/types.ts';
import { formatDate } from '../../lib/format.ts';
import { shorten } from '../../lib/text.ts';
import type { FormValues } from './form-values.ts';

type Versions = IdentityDetail['versions'];
type Chosen = Pick<FormValues, 'identityVersion' | 'otherVersion'>;

/** The versions of an identity to choose from, newest first, with what is new in each. */
export function versionChoices(versions: Versions): { id: string; label: string }[] {
  return versions.map(({ version, active, note, createdAt, retiresAt }) => {
    const name = `Version ${version}${active ? ', active' : ''}`;
    const end = retiresAt === null ? '' : ` (until ${formatDate(retiresAt)})`;
    const what = note === null ? createdAt && formatDate(createdAt) : shorten(note, 60);
    return { id: String(version), label: `${name}${end}${what === null ? '' : `: ${what}`}` };
  });
}

/** What is wrong with the version that was chosen: it may have been retired since. Null while none are known. */
export function versionError({ identityVersion }: Chosen, versions: Versions | undefined): string | null {
  const isThere = versions?.some(({ version }) => String(version) === identityVersion) ?? true;
  if (identityVersion === '' || isThere) return null;
  return `Version ${identityVersion} can’t be used any more. Choose another.`;
}

/** Those to compare with the version that was chosen. */
export function othersThan({ identityVersion }: Chosen, versions: Versions): Versions {
  return versions.filter(({ version, active }) =>
    identityVersion === '' ? !active : String(version) !== identityVersion,
  );
}

/** The version to compare with; null for none, and for one that is the same or gone. */
export function comparedWith(chosen: Chosen, versions: Versions = []): number | null {
  const others = othersThan(chosen, versions);
  return others.find(({ version }) => String(version) === chosen.otherVersion)?.version ?? null;
}

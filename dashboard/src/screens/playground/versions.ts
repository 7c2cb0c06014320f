import type { IdentityDetail } from '../../lib/types.ts';
import type { Choice } from '../../components/ui/select.tsx';
import { formatDate } from '../../lib/format.ts';
import { shorten } from '../../lib/text.ts';

type Version = IdentityDetail['versions'][number];

/** The versions of an identity to choose from, newest first, with what is new in each. */
export function versionChoices(versions: readonly Version[]): Choice<string>[] {
  return versions.map(({ version, active, note, createdAt, retiresAt }) => {
    const name = `Version ${version}${active ? ', active' : ''}`;
    const end = retiresAt === null ? '' : ` (until ${formatDate(retiresAt)})`;
    const what = note === null ? createdAt && formatDate(createdAt) : shorten(note, 60);
    return { id: String(version), label: `${name}${end}${what === null ? '' : `: ${what}`}` };
  });
}

/** What is wrong with the one that was chosen (`''` for the active one): it may have been retired since. */
export function versionError(chosen: string, versions: readonly Version[]): string | null {
  const isThere = chosen === '' || versions.some(({ version }) => String(version) === chosen);
  return isThere ? null : `Version ${chosen} can’t be used any more. Choose another.`;
}

/** The two that are compared first: the active one and the newest other, the older one at the left. */
export function firstCompared(versions: readonly Version[]): string[] {
  const active = versions.find((one) => one.active);
  const others = versions.filter((one) => one !== active);
  return [active, ...others]
    .flatMap((one) => (one ? [one.version] : []))
    .slice(0, 2)
    .sort((a, b) => a - b)
    .map(String);
}

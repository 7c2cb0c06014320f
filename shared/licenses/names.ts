import type { License } from './license.ts';
import { tiers } from './tiers.ts';

const maxLength = 64;

type Named = Pick<License, 'licenseId' | 'givenName' | 'planName' | 'tier'>;

/**
 * What the licenses of one account are called, by license ID: the name that the operator gave, else the plan's, else the
 * tier's label. No two names are alike: a name that is taken gets a number. Names that the operator gave are assigned first,
 * so they rarely need one.
 * @param licenses all of the account, oldest first
 */
export function licenseNames(licenses: readonly Named[]): Map<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  const call = ({ licenseId }: Named, wanted: string): void => {
    const name = freeName(wanted, taken);
    names.set(licenseId, name);
    taken.add(name);
  };
  for (const license of licenses) if (license.givenName !== null) call(license, license.givenName);
  for (const license of licenses) {
    if (license.givenName === null) call(license, license.planName ?? tiers[license.tier].label);
  }
  return names;
}

function freeName(wanted: string, taken: ReadonlySet<string>): string {
  if (!taken.has(wanted)) return wanted;
  for (let number = 2; ; number++) {
    const end = ` ${number}`;
    const name =
      Array.from(wanted)
        .slice(0, maxLength - end.length)
        .join('') + end;
    if (!taken.has(name)) return name;
  }
}

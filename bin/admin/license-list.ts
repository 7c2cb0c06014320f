import type { License } from '../../shared/licenses/license.ts';
import { licenseNames } from '../../shared/licenses/names.ts';
import { readableTime, table, type Answer } from '../common/output.ts';
import type { Session } from './command.ts';
import { grantsOf, licenseAnswer, licenseJson } from './license-output.ts';

/** One license with the name that its owner reads, and the owner's e-mail address. */
export async function showLicense(session: Session, license: License): Promise<Answer> {
  const { stores, accounts, nowMs } = session;
  const { licenseId, ownerId } = license;
  const [listed, emails] = await Promise.all([
    stores.licenses.listByOwner(ownerId),
    accounts.emailsOf([ownerId]),
  ]);
  // The index that lists them may not have the newest change yet.
  const others = listed.filter((other) => other.licenseId !== licenseId);
  const all = [...others, license].sort((a, b) => a.createdAtMs - b.createdAtMs);
  const name = licenseNames(all).get(licenseId)!;
  return licenseAnswer(license, { name, ownerEmail: emails.get(ownerId) ?? null }, nowMs);
}

/** @param owner an account's sub or e-mail address; undefined for the licenses of all. */
export async function listLicenses(session: Session, owner: string | undefined): Promise<Answer> {
  const { stores, accounts } = session;
  const licenses =
    owner === undefined
      ? await stores.licenses.listAll()
      : await stores.licenses.listByOwner(await accounts.ownerId(owner));
  const byOwner = Map.groupBy(licenses, ({ ownerId }) => ownerId);
  const emails = await accounts.emailsOf([...byOwner.keys()]);
  const names = new Map([...byOwner.values()].flatMap((owned) => [...licenseNames(owned)]));
  const knownOf = ({ licenseId, ownerId }: License) => ({
    name: names.get(licenseId)!,
    ownerEmail: emails.get(ownerId) ?? null,
  });
  const rows = licenses.map((license) => [
    license.licenseId,
    knownOf(license).name,
    license.ownerId,
    knownOf(license).ownerEmail ?? '–',
    license.tier,
    license.creditsLimit,
    grantsOf(license),
    license.apiAccess ? license.status : `${license.status}, no API`,
    readableTime(license.activeUntilMs),
  ]);
  const headings = [
    'LICENSE',
    'NAME',
    'OWNER',
    'E-MAIL',
    'TIER',
    'CREDITS',
    'MAY USE',
    'STATUS',
    'ACTIVE UNTIL',
  ];
  return {
    json: { licenses: licenses.map((license) => licenseJson(license, knownOf(license))) },
    text: rows.length === 0 ? 'There are no licenses.' : table(headings, rows),
  };
}

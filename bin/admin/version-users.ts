import { licenseIdOfGeneration } from '../../shared/table/keys.ts';
import { listOf, readableTime, type Answer } from '../common/output.ts';
import type { Session } from './command.ts';
import { getIdentity, getVersion } from './get-identity.ts';
import { scanTable } from './scan.ts';

const scannedDays = 30;

/** By license and key: how many requests it got in the last days, and when the last one was. */
export async function usersOf(
  session: Session,
  name: string,
  number: number,
  options: { yes?: boolean },
): Promise<Answer> {
  const identity = await getIdentity(session, name);
  const { identityId } = identity;
  await getVersion(session, identity, number);
  const items = await scanTable(
    session,
    options,
    '#identity.#id = :identity AND #version = :version AND #at >= :since',
    { ':identity': identityId, ':version': number, ':since': session.nowMs - scannedDays * 24 * 3600 * 1000 },
    { '#identity': 'identity', '#id': 'id', '#version': 'identityVersion', '#at': 'createdAtMs' },
  );
  const users = [...Map.groupBy(items, ({ PK, keyId }) => `${licenseIdOfGeneration({ PK })} ${keyId}`)]
    .map(([user, its]) => {
      const [licenseId, keyId] = user.split(' ');
      const lastMs = Math.max(...its.map(({ createdAtMs }) => createdAtMs));
      return { licenseId: licenseId!, keyId: keyId!, requests: its.length, lastAt: readableTime(lastMs) };
    })
    .sort((a, b) => b.requests - a.requests);
  const columns = {
    LICENSE: (user: (typeof users)[number]) => user.licenseId,
    'KEY OR ACCOUNT': (user: (typeof users)[number]) => user.keyId,
    REQUESTS: (user: (typeof users)[number]) => user.requests,
    LAST: (user: (typeof users)[number]) => user.lastAt,
  };
  const none = `Nobody used version ${number} of ${name} in the last ${scannedDays} days.`;
  return {
    json: { identityId, version: number, days: scannedDays, users },
    text: listOf(users, columns, none),
  };
}

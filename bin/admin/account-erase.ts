import { setTimeout as wait } from 'node:timers/promises';
import { auditDays } from '../../shared/accounts/audit.ts';
import type { License } from '../../shared/licenses/license.ts';
import type { ApiKey } from '../../shared/keys/item.ts';
import { eraseRefusedPrompts } from '../../shared/moderation/refused-prompt-store.ts';
import { requestEraser } from '../common/erase.ts';
import { Failure, usageFailure } from '../common/failure.ts';
import { counted, type Answer } from '../common/output.ts';
import type { Session } from './command.ts';

const stays = [
  "the totals of its licenses' periods, gifts and packs of credits, without prompts: they are what was paid for",
  `who changed what, by ids, with the names that keys and licenses had: ${auditDays} days`,
  'which of its requests were refused, and why, without prompts: 14 days; how often: 66 days',
  'when its sessions ended, so that tokens of before stay refused',
  'its revoked keys (hash, first characters, name) and its uploads, until their own time is over',
  'copies of the table: when one is restored, its requests are deleted again',
  "what is remembered of its subscriptions, with Stripe's ids of them and of their customer",
  'what Stripe and your logs know: end its subscription there',
];

/** For what was let in just before access ended: its reference images are read before it is stored. */
export const erasing = { pause: () => wait(20_000) };

interface Belongings {
  ownerId: string;
  licenses: License[];
  /** Those that are not revoked yet. */
  keys: ApiKey[];
}

/** Says what an erasure would do; with `yes` it does that. What failed half-way goes on when it is repeated. */
export async function eraseAccount(session: Session, text: string, yes: boolean): Promise<Answer> {
  const { accounts, stores, bucketName } = session;
  if (bucketName === null) {
    throw usageFailure('Images lie in the bucket of a stack: name the stack with --stack.');
  }
  const ownerId = await accounts.ownerId(text);
  const [licenses, allKeys] = await Promise.all([
    stores.licenses.listByOwner(ownerId),
    stores.apiKeys.listByOwner(ownerId),
  ]);
  // A mistyped sub must not end in "Erased".
  if (licenses.length + allKeys.length === 0) await accounts.find(ownerId);
  const keys = allKeys.filter(({ revokedAtMs }) => revokedAtMs === null);
  const requests = yes
    ? await erase(session, bucketName, { ownerId, licenses, keys })
    : await countRequests(session, licenses);
  const counts = { licenses: licenses.length, keys: keys.length, requests };
  const words = [
    `${counted(requests, 'request')} with images and prompts, and kept prompts of refused ones`,
    `${counted(keys.length, 'key')} revoked, ${counted(licenses.length, 'license')} ended and without a name`,
    'all sessions, what was chosen about mails, and the account in the user pool',
  ];
  const head = yes ? `Erased ${ownerId}:` : `This would erase ${ownerId}:`;
  const foot = yes ? '' : '\n\nNothing was changed: add --yes to do it. It cannot be taken back.';
  return {
    json: { ownerId, erased: yes, ...counts, stays },
    text: `${head}\n${listed(words)}\n\nThis stays:\n${listed(stays)}${foot}`,
  };
}

const listed = (lines: string[]) => lines.map((line) => `  - ${line}`).join('\n');

/** Access first, so that nothing new comes; the account in the pool last, so that its address still names it. */
async function erase(
  session: Session,
  bucketName: string,
  { ownerId, licenses, keys }: Belongings,
): Promise<number> {
  const { accounts, stores, nowMs } = session;
  const by = await session.operator();
  const endedAtMs = await accounts.signOut(ownerId, true);
  await stores.accounts.endSessions(ownerId, endedAtMs ?? Date.now());
  for (const key of keys) await stores.apiKeys.revoke(key, nowMs, by);
  for (const { licenseId, activeUntilMs } of licenses) {
    const end = { status: 'ended', activeUntilMs: Math.min(nowMs, activeUntilMs ?? nowMs) } as const;
    await stores.licenses.update(licenseId, { ...end, givenName: null }, by, nowMs);
  }
  const { erased, running } = await eraseRequests(session, bucketName, licenses);
  for (const { licenseId } of licenses) await eraseRefusedPrompts(stores.table, licenseId);
  if (running > 0) {
    throw new Failure(
      `${counted(erased, 'request')} erased, but ${running} still run: repeat the command once they have ended.`,
    );
  }
  await stores.accounts.forget(ownerId);
  await accounts.remove(ownerId);
  return erased;
}

async function eraseRequests(session: Session, bucketName: string, licenses: License[]) {
  const eraser = await requestEraser(session.stores, bucketName);
  let [erased, running, before] = [0, 0, 0];
  do {
    await erasing.pause();
    before = erased;
    for await (const { licenseId, requestId } of requestsOf(session, licenses)) {
      if (await eraser.removeIfThere(licenseId, requestId)) erased += 1;
      else running += 1;
    }
  } while (erased > before && running === 0);
  return { erased, running };
}

async function countRequests(session: Session, licenses: License[]): Promise<number> {
  let count = 0;
  for await (const _ of requestsOf(session, licenses)) count += 1;
  return count;
}

async function* requestsOf({ stores }: Session, licenses: License[]) {
  for (const { licenseId } of licenses) {
    let before: string | null = null;
    do {
      const query = { limit: 50, before, filter: {}, reads: null, nowMs: Date.now() };
      const page = await stores.generations.listPage(licenseId, query);
      yield* page.generations;
      before = page.next;
    } while (before !== null);
  }
}

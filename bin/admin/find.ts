import { licenseIdOf } from '../../shared/billing/subscription-license.ts';
import { isId, isKeyId, readRequestId } from '../../shared/base/ids.ts';
import { isCustomerId } from '../../shared/billing/stripe-objects.ts';
import { subscriptionStore } from '../../shared/billing/subscription-store.ts';
import { fingerprintApiKey, isApiKey } from '../../shared/keys/api-key.ts';
import { fromItem as keyOf } from '../../shared/keys/item.ts';
import type { ApiKey } from '../../shared/keys/store.ts';
import { listRefused } from '../../shared/limits/refusal-store.ts';
import { refusedPrefix } from '../../shared/table/keys.ts';
import { Failure, usageFailure } from '../common/failure.ts';
import { keyValues, listOf, type Answer } from '../common/output.ts';
import { account, id, nonEmpty } from '../common/values.ts';
import { scanTable } from './scan.ts';
import { show as showAccount } from './account.ts';
import type { CommandRow, Session } from './command.ts';
import { generationText, withoutPrompts } from './generation.ts';
import { answersOf, keyFields } from './key.ts';
import { getLicense } from './get-license.ts';
import { showLicense } from './license-output.ts';
import { refusedText } from './refused-request.ts';

interface Options {
  license?: string;
  owner?: string;
  scan?: boolean;
  yes?: boolean;
}

type Search = (session: Session, word: string, options: Options) => Promise<Answer>;

export const findCommand: CommandRow = {
  name: 'find',
  description:
    'what a customer speaks of: a request id (by the logs, while they are kept), a key, its id or its beginning, an e-mail address, a Stripe subscription or customer, a license',
  operands: [['<word>', 'what it is called', nonEmpty]],
  options: [
    ['--license <id>', 'a request or a key of this license', id],
    ['--owner <account>', 'a request or a key of this account: its sub or e-mail address', account],
    ['--scan', 'a request or a key of any license, by reading the whole table; says what that costs'],
    ['-y, --yes', 'with --scan: read it'],
  ],
  examples: ['find 019aa3c2-7b1e-7c55-9d0c-3b8f6f0e2a41', 'find svc_live_Ab3d --owner ada@example.com'],
  run: (options: Options, pasted: string) => (session) => {
    const word = pasted.trim();
    return searchFor(word)(session, word, options);
  },
};

function searchFor(word: string): Search {
  if (readRequestId(word) !== null) return findRequest;
  if (isKeyId(word) || isApiKey(word)) return findKey;
  if (word.startsWith('svc_live_')) return findKeys;
  if (word.startsWith('sub_')) return (session) => oneLicense(session, licenseIdOf(word));
  if (isCustomerId(word)) return findCustomer;
  const isAccount = word.includes('@') || /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(word);
  if (isAccount) return (session) => showAccount(session, word);
  if (!isId(word)) throw usageFailure(`This is ${nothingElse}, and no license.`);
  return async (session) => {
    const license = await session.stores.licenses.get(word);
    if (license === null) throw new Failure(`There is no license ${word}, and this is ${nothingElse}.`);
    return showLicense(session, license);
  };
}

const nothingElse =
  'no request id, whole key or its whole id, beginning of a key (svc_live_…), e-mail address, subscription (sub_…) or customer (cus_…)';

async function oneLicense(session: Session, licenseId: string): Promise<Answer> {
  return showLicense(session, await getLicense(session, licenseId));
}

async function findCustomer(session: Session, word: string): Promise<Answer> {
  const { table, licenses } = session.stores;
  const licenseIds = await subscriptionStore(table).listByCustomer(word);
  if (licenseIds.length === 0) {
    throw new Failure(
      `No subscription of ${word} is known, or all its events came before customers were stored: Stripe shows its subscriptions, and find takes each (sub_…).`,
    );
  }
  const known = await licenses.getMany(licenseIds);
  const answers = await Promise.all([...known.values()].map((license) => showLicense(session, license)));
  const unowned = licenseIds.filter((licenseId) => !known.has(licenseId));
  const texts = unowned.map(
    (licenseId) => `${licenseId.replace('lic_', '')} has no license: nobody owns it.`,
  );
  return {
    json: { licenses: answers.map(({ json }) => json), unowned },
    text: [...answers.map(({ text }) => text), ...texts].join('\n\n'),
  };
}

/** @returns undefined where neither a license nor an account is named. */
async function namedLicenses(session: Session, { license, owner }: Options): Promise<string[] | undefined> {
  if (license !== undefined) return [(await getLicense(session, license)).licenseId];
  if (owner === undefined) return undefined;
  const licenses = await session.stores.licenses.listByOwner(await session.accounts.ownerId(owner));
  return licenses.map(({ licenseId }) => licenseId);
}

function nothingKnown(requestId: string, { license, owner }: Options): Failure {
  const elsewhere =
    (license ?? owner) === undefined
      ? 'Logs are kept for as many days as the option logRetentionDays says; what is stored is found with --license or --owner.'
      : 'It may be of another license or account: without --license and --owner the logs are searched, while they are kept.';
  return new Failure(`Nothing is known of ${requestId}. ${elsewhere}`);
}

/** Where no license is named, the logs name it. */
async function findRequest(session: Session, word: string, options: Options): Promise<Answer> {
  const { stores, nowMs, logs } = session;
  const requestId = readRequestId(word)!;
  let licenseIds = await namedLicenses(session, options);
  let lines: Record<string, unknown>[] = [];
  if (licenseIds === undefined && options.scan) {
    const ids = { ':stored': requestId, ':refused': refusedPrefix + requestId };
    const items = await scanTable(session, options, 'SK IN (:stored, :refused)', ids);
    licenseIds = items.map(({ PK }) => String(PK).split('#')[1]!);
  } else if (licenseIds === undefined) {
    if (logs === null) throw usageFailure('Name the stack with --stack, or --license or --owner.');
    const { logLines } = await import('../common/logs.ts');
    lines = await logLines(logs, requestId);
    licenseIds = lines.flatMap(({ licenseId }) => (typeof licenseId === 'string' ? [licenseId] : []));
  }
  const found = await Promise.all(
    [...new Set(licenseIds)].map(async (licenseId) => ({
      stored: await stores.generations.get(licenseId, requestId),
      refused: await listRefused(stores.table, licenseId, nowMs, requestId),
    })),
  );
  const stored = found.flatMap((one) => one.stored ?? []);
  const refused = found.flatMap((one) => one.refused);
  if (lines.length + stored.length + refused.length === 0) {
    throw nothingKnown(requestId, options);
  }
  const logged = lines.map((line) =>
    // Metrics in it are objects, and are about no request.
    keyValues(
      Object.entries(line)
        .filter(([, value]) => typeof value !== 'object')
        .map(([name, value]) => [name, String(value)]),
    ),
  );
  return {
    json: { requestId, stored: stored.map(withoutPrompts), refused, logged: lines },
    text: [...stored.map(generationText), ...refused.map(refusedText), ...logged].join('\n\n'),
  };
}

/** By its id, or the whole key, which tells its id: it is read wherever it is. */
async function findKey(session: Session, word: string): Promise<Answer> {
  const keyId = isKeyId(word) ? word : fingerprintApiKey(word).keyId;
  const key = await session.stores.apiKeys.get(keyId);
  if (key === null) throw new Failure(`There is no key ${keyId}.`);
  const answers = await answersOf(session, [key]);
  return { json: { keys: answers }, text: listOf(answers, keyFields, '') };
}

/** By its beginning. */
async function findKeys(session: Session, word: string, options: Options): Promise<Answer> {
  const licenseIds = await namedLicenses(session, options);
  let keys: ApiKey[];
  if (licenseIds !== undefined) {
    const licenses = await session.stores.licenses.getMany(licenseIds);
    const owners = new Set([...licenses.values()].map(({ ownerId }) => ownerId));
    const owned = await Promise.all([...owners].map((owner) => session.stores.apiKeys.listByOwner(owner)));
    keys = owned.flat().filter((key) => licenseIds.includes(key.licenseId));
  } else if (options.scan) {
    keys = (await scanTable(session, options, 'SK = :key', { ':key': 'KEY' })).map(keyOf);
  } else {
    throw usageFailure(
      'Keys are found in a license or an account: name --license or --owner, or --scan all.',
    );
  }
  const found = keys.filter(({ keyPrefix }) => keyPrefix.startsWith(word) || word.startsWith(keyPrefix));
  if (found.length === 0) throw new Failure('No key begins so, there.');
  const answers = await answersOf(session, found);
  return { json: { keys: answers }, text: listOf(answers, keyFields, '') };
}

import type { KeyAnswer } from '../../shared/keys/answer-contract.ts';
import {
  keyAccesses,
  maxKeyInFlight,
  maxMonthlyCredits,
  type KeyAccess,
} from '../../shared/keys/contract.ts';
import { isRemovedKey } from '../../shared/keys/api-key.ts';
import { keyLimitNames } from '../../shared/routes/limits.ts';
import type { ApiKey, KeyChanges } from '../../shared/keys/store.ts';
import { checkMaxInFlight, issueApiKey, keyAnswer, keyAnswers } from '../../shared/keys/manage.ts';
import { accessIsTakenAway, type CommandGroup, type Session } from './command.ts';
import { counted } from '../../shared/base/words.ts';
import { Failure, usageFailure } from '../common/failure.ts';
import { getLicense } from './get-license.ts';
import { keyValues, listOf, readableTime, type Answer } from '../common/output.ts';
import { futureTime, id, keyId as keyIdValue, line, oneOf, wholeNumber } from '../common/values.ts';

const examples = [
  'key issue lic_… --name "my app"',
  'key issue lic_… --name "a trial" --expires-at 2026-12-31T18:00:00Z',
  'key list lic_…',
  'key issue lic_… --name "a colleague" --monthly-credits 100',
  'key issue lic_… --name "a browser" --access own --max-in-flight 2',
  'key change key_… --monthly-credits 500',
  'key revoke key_…',
];

const budget = wholeNumber(1, maxMonthlyCredits);
const places = wholeNumber(1, maxKeyInFlight);
const accesses = "license (reads and deletes all of its license's requests) or own (only what it made)";
const ofKey = 'its id (key_…), not the key itself';

interface IssueOptions {
  name: string;
  expiresAt?: number;
  monthlyCredits?: number;
  access?: KeyAccess;
  maxInFlight?: number;
}

interface ChangeOptions {
  name?: string;
  /** False: no budget. */
  monthlyCredits?: number | false;
  access?: KeyAccess;
  /** False: as many as its license may have. */
  maxInFlight?: number | false;
}

export const keyCommands: CommandGroup = {
  name: 'key',
  description: "a license's API keys: issue, list, change, revoke",
  examples,
  commands: [
    {
      name: 'issue',
      description: 'make a key; it is shown this once',
      operands: [['<license>', 'the id of its license', id]],
      options: [
        ['--name <name>', 'what its owner knows it by', line(64), { required: true }],
        ['--expires-at <time>', 'it is refused from then on (default: never)', futureTime],
        ['--monthly-credits <credits>', 'its budget (default: none of its own)', budget],
        ['--access <access>', `${accesses} (default: license)`, oneOf(keyAccesses)],
        ['--max-in-flight <n>', "requests at a time (default: its license's)", places],
      ],
      run: (options: IssueOptions, licenseId: string) => (session) => issue(session, licenseId, options),
    },
    {
      name: 'list',
      description: "a license's keys, newest first",
      operands: [['<license>', 'its id', id]],
      run: (_, licenseId: string) => (session) => list(session, licenseId),
    },
    {
      name: 'change',
      description: 'change the name, the limits or the access of a key, from the next request on',
      operands: [['<key>', ofKey, keyIdValue]],
      options: [
        ['--name <name>', 'what its owner knows it by', line(64)],
        ['--monthly-credits <credits>', "credits of its license's period that it may use", budget],
        ['--no-monthly-credits', 'take its budget away: it may use all that its license has'],
        ['--access <access>', accesses, oneOf(keyAccesses)],
        ['--max-in-flight <n>', 'requests at a time, of those that begin from now on', places],
        ['--no-max-in-flight', 'as many requests at a time as its license may have'],
      ],
      asksBefore: accessIsTakenAway,
      run: (options: ChangeOptions, keyId: string) => (session) => changeKey(session, keyId, options),
    },
    {
      name: 'revoke',
      description: 'revoke a key for good, from the next request on',
      operands: [['<key>', ofKey, keyIdValue]],
      asksBefore: accessIsTakenAway,
      run: (_, keyId: string) => (session) => revoke(session, keyId),
    },
  ],
};

async function issue(session: Session, licenseId: string, options: IssueOptions): Promise<Answer> {
  const { stores, nowMs } = session;
  const license = await getLicense(session, licenseId);
  const { expiresAt: expiresAtMs = null, monthlyCredits = null, ...others } = options;
  const order = { ...others, license, expiresAtMs, monthlyCredits, by: await session.operator() };
  const { rawKey, key } = await issueApiKey(order, stores.apiKeys, nowMs);
  const { json, text } = shown(keyAnswer(key, { lastUsedAtMs: null, creditsUsed: 0 }, nowMs));
  return {
    json: { key: rawKey, ...json },
    text: `${rawKey}\n\n${text}\n\nKeep the key now: it is not shown again.`,
  };
}

async function list(session: Session, licenseId: string): Promise<Answer> {
  const { ownerId } = await getLicense(session, licenseId);
  const all = await session.stores.apiKeys.listByOwner(ownerId);
  const ofLicense = all.filter((key) => key.licenseId === licenseId && !isRemovedKey(key, session.nowMs));
  const keys = await answersOf(session, ofLicense);
  return { json: { keys }, text: listOf(keys, columns, `The license ${licenseId} has no keys.`) };
}

async function revoke(session: Session, keyId: string): Promise<Answer> {
  const { stores, nowMs } = session;
  const before = await stores.apiKeys.get(keyId);
  if (before === null) throw unknownKey(keyId);
  if (before.revokedAtMs !== null) return shownNow(session, before);
  await session.confirm({
    what: `revoke the key ${keyId} for good`,
    losses: [`"${before.name}" (${before.keyPrefix}…) of the license ${before.licenseId} will be refused`],
  });
  return shownNow(session, await stores.apiKeys.revoke(before, nowMs, await session.operator()));
}

async function changeKey(
  session: Session,
  keyId: string,
  { monthlyCredits, maxInFlight, ...others }: ChangeOptions,
): Promise<Answer> {
  const { stores, nowMs } = session;
  const changes: KeyChanges = {
    ...others,
    ...(monthlyCredits !== undefined && { monthlyCredits: monthlyCredits || null }),
    ...(maxInFlight !== undefined && { maxInFlight: maxInFlight || null }),
  };
  if (Object.keys(changes).length === 0) throw usageFailure('Nothing to change: name what, see --help.');
  const before = await stores.apiKeys.get(keyId);
  if (before === null || isRemovedKey(before, nowMs)) throw unknownKey(keyId);
  if (changes.maxInFlight) {
    checkMaxInFlight(changes.maxInFlight, await getLicense(session, before.licenseId));
  }
  const losses = keyLosses(before, { ...before, ...changes });
  if (losses.length > 0) await session.confirm({ what: `change the key ${keyId}`, losses });
  const after = await stores.apiKeys.change(before, changes, nowMs, await session.operator());
  if (after === null) throw unknownKey(keyId);
  return shownNow(session, after);
}

/** What a key can't do any more that it could. */
function keyLosses(before: ApiKey, after: ApiKey): string[] {
  const losses: string[] = [];
  if ((after.monthlyCredits ?? Infinity) < (before.monthlyCredits ?? Infinity)) {
    const had = before.monthlyCredits === null ? 'no budget' : `${before.monthlyCredits} credits a month`;
    losses.push(`it may use ${after.monthlyCredits} credits a month, and had ${had}`);
  }
  if ((after.maxInFlight ?? Infinity) < (before.maxInFlight ?? Infinity)) {
    losses.push(`it may have ${counted(after.maxInFlight!, 'request')} in flight at a time`);
  }
  if (after.access === 'own' && before.access === 'license') losses.push('it finds only what it made itself');
  return losses;
}

export function answersOf({ stores, nowMs }: Session, keys: ApiKey[]): Promise<KeyAnswer[]> {
  return keyAnswers(keys, { ...stores, keyLimitNames }, nowMs);
}

async function shownNow(session: Session, key: ApiKey): Promise<Answer> {
  const [answered] = await answersOf(session, [key]);
  return shown(answered!);
}

function unknownKey(keyId: string): Failure {
  return new Failure(`There is no key ${keyId}.`);
}

export const keyFields = {
  Key: (key: KeyAnswer) => key.keyId,
  Begins: (key: KeyAnswer) => key.keyPrefix,
  Name: (key: KeyAnswer) => key.name,
  License: (key: KeyAnswer) => key.licenseId,
  Status: (key: KeyAnswer) => key.status,
  Credits: creditsText,
  Access: (key: KeyAnswer) => key.access,
  'In flight': (key: KeyAnswer) =>
    key.maxInFlight === null ? 'as its license' : `at most ${key.maxInFlight}`,
  Created: (key: KeyAnswer) => readable(key.createdAt),
  'Last used': (key: KeyAnswer) => readable(key.lastUsedAt),
  Expires: (key: KeyAnswer) => readable(key.expiresAt),
  Revoked: (key: KeyAnswer) => readable(key.revokedAt),
};
const { License: _, ...columns } = keyFields;

function shown(key: KeyAnswer): Answer {
  const rows = Object.entries(keyFields).map(([label, cell]): [string, string] => [label, cell(key)]);
  return { json: { ...key }, text: keyValues(rows) };
}

/** What it used of its license's present period, and of its budget if it has one. */
function creditsText({ creditsUsed, monthlyCredits }: KeyAnswer): string {
  return monthlyCredits === null ? `${creditsUsed}, no budget` : `${creditsUsed} of ${monthlyCredits}`;
}

function readable(iso: string | null): string {
  return readableTime(iso === null ? null : Date.parse(iso));
}

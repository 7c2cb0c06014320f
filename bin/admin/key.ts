import type { Command } from 'commander';
import { isRemovedKey, keyStatus } from '../../shared/domain/api-key.ts';
import type { License } from '../../shared/domain/license.ts';
import { keyLimitNames } from '../../shared/routes.ts';
import type { ApiKey } from '../../shared/store/api-key-store.ts';
import { issueApiKey, keyAnswer } from '../../shared/workflow/api-keys.ts';
import { answer, withExamples, withYes, type Session } from './command.ts';
import { Failure } from '../common/failure.ts';
import { getLicense } from './license.ts';
import { keyValues, readableTime, table, type Answer } from '../common/output.ts';
import { futureTime, id, keyId as keyIdValue, line } from '../common/values.ts';

const examples = [
  'key issue lic_… --name "my app"',
  'key issue lic_… --name "a trial" --expires-at 2026-12-31T18:00:00Z',
  'key list lic_…',
  'key revoke key_…',
];

interface IssueOptions {
  name: string;
  expiresAt?: number;
}

export function addKeyCommands(program: Command): void {
  const key = program.command('key').description("a license's API keys: issue, list, revoke");
  withExamples(key, examples);
  key
    .command('issue')
    .description('make a key; it is shown this once')
    .argument('<license>', 'the id of its license', id('LICENSE'))
    .requiredOption('--name <name>', 'what its owner knows it by', line('--name', 64))
    .option('--expires-at <time>', 'it is refused from then on (default: never)', futureTime('--expires-at'))
    .action((licenseId: string, options: IssueOptions, command: Command) =>
      answer(command, (session) => issue(session, licenseId, options)),
    );
  key
    .command('list')
    .description("a license's keys, newest first")
    .argument('<license>', 'its id', id('LICENSE'))
    .action((licenseId: string, _, command: Command) =>
      answer(command, (session) => list(session, licenseId)),
    );
  const revocation = key
    .command('revoke')
    .description('revoke a key for good, from the next request on')
    .argument('<key>', 'its id (key_…), not the key itself', keyIdValue('KEY'))
    .action((keyId: string, _, command: Command) => answer(command, (session) => revoke(session, keyId)));
  withYes(revocation);
}

async function issue(session: Session, licenseId: string, options: IssueOptions): Promise<Answer> {
  const { stores, nowMs } = session;
  const license = await getLicense(session, licenseId);
  const { name, expiresAt = null } = options;
  const order = { license, name, expiresAtMs: expiresAt, by: await session.operator() };
  const { rawKey, key } = await issueApiKey(order, stores.apiKeys, nowMs);
  const { json, text } = shown(key, null, nowMs);
  return {
    json: { key: rawKey, ...json },
    text: `${rawKey}\n\n${text}\n\nKeep the key now: it is not shown again.`,
  };
}

async function list(session: Session, licenseId: string): Promise<Answer> {
  const { stores, nowMs } = session;
  const keys = await keysOf(session, await getLicense(session, licenseId));
  const lastUsed = await stores.apiKeys.lastUsed(
    keys.map((key) => key.keyId),
    keyLimitNames,
  );
  const lastUsedOf = (key: ApiKey) => lastUsed.get(key.keyId) ?? null;
  const rows = keys.map((key) => [
    key.keyId,
    key.keyPrefix,
    key.name,
    keyStatus(key, nowMs),
    readableTime(key.createdAtMs),
    readableTime(lastUsedOf(key)),
    readableTime(key.expiresAtMs),
    readableTime(key.revokedAtMs),
  ]);
  const headings = ['KEY', 'BEGINS', 'NAME', 'STATUS', 'CREATED', 'LAST USED', 'EXPIRES', 'REVOKED'];
  return {
    json: { keys: keys.map((key) => keyAnswer(key, lastUsedOf(key), nowMs)) },
    text: rows.length === 0 ? `The license ${licenseId} has no keys.` : table(headings, rows),
  };
}

async function revoke(session: Session, keyId: string): Promise<Answer> {
  const { stores, nowMs } = session;
  const before = await stores.apiKeys.get(keyId);
  if (before === null) throw unknownKey(keyId);
  if (before.revokedAtMs === null) {
    await session.confirm({
      what: `revoke the key ${keyId} for good`,
      losses: [`"${before.name}" (${before.keyPrefix}…) of the license ${before.licenseId} will be refused`],
    });
  }
  const after =
    before.revokedAtMs === null
      ? await stores.apiKeys.revoke(before, nowMs, await session.operator())
      : before;
  const lastUsed = await stores.apiKeys.lastUsed([keyId], keyLimitNames);
  return shown(after, lastUsed.get(keyId) ?? null, nowMs);
}

async function keysOf({ stores, nowMs }: Session, license: License): Promise<ApiKey[]> {
  const keys = await stores.apiKeys.listByOwner(license.ownerId);
  return keys.filter((key) => key.licenseId === license.licenseId && !isRemovedKey(key, nowMs));
}

function unknownKey(keyId: string): Failure {
  return new Failure(`There is no key ${keyId}.`);
}

function shown(key: ApiKey, lastUsedAtMs: number | null, nowMs: number): Answer {
  return {
    json: { ...keyAnswer(key, lastUsedAtMs, nowMs) },
    text: keyValues([
      ['Key', key.keyId],
      ['Begins', key.keyPrefix],
      ['Name', key.name],
      ['License', key.licenseId],
      ['Status', keyStatus(key, nowMs)],
      ['Created', readableTime(key.createdAtMs)],
      ['Last used', readableTime(lastUsedAtMs)],
      ['Expires', readableTime(key.expiresAtMs)],
      ['Revoked', readableTime(key.revokedAtMs)],
    ]),
  };
}

import { Option, type Command } from 'commander';
import {
  generationStatuses,
  generationTypes,
  type GenerationStatus,
  type GenerationType,
} from '../../shared/base/generation-kinds.ts';
import { creditsCharged, type Generation } from '../../shared/generations/generation.ts';
import type { GenerationFilter } from '../../shared/generations/store.ts';
import { usageFailure } from '../common/failure.ts';
import { readableTime, table, type Answer } from '../common/output.ts';
import { account, id, keyId, oneOf, time, wholeNumber } from '../common/values.ts';
import { answer, type Session } from './command.ts';
import { generationJson } from './generation-output.ts';
import { getLicense } from './license.ts';

const defaultLimit = 50;
const maxPerPage = 50;

interface ListOptions {
  owner?: string;
  status?: GenerationStatus;
  identity?: string;
  key?: string;
  type?: GenerationType;
  since?: number;
  until?: number;
  limit: number;
  prompts?: boolean;
}

export function addGenerationList(generation: Command): void {
  generation
    .command('list')
    .description('stored requests of a license, or of all licenses of an account, newest first')
    .argument('[license]', 'its id', id('LICENSE'))
    .option(
      '--owner <account>',
      'of this account instead: its Cognito sub or e-mail address',
      account('--owner'),
    )
    .option('--status <status>', generationStatuses.join(', '), oneOf('--status', generationStatuses))
    .option('--identity <id>', 'with this identity', id('--identity'))
    .option('--key <key>', 'made with this key', keyId('--key'))
    .option('--type <type>', generationTypes.join(', '), oneOf('--type', generationTypes))
    .option('--since <time>', 'accepted then or later', time('--since'))
    .option('--until <time>', 'accepted before then', time('--until'))
    .option('--limit <n>', 'at most so many', wholeNumber('--limit', 1, 1000), defaultLimit)
    .addOption(new Option('--prompts', 'with what was asked for, which is the business of its owner'))
    .action((licenseId: string | undefined, options: ListOptions, command: Command) => {
      if ((licenseId === undefined) === (options.owner === undefined)) {
        throw usageFailure('Name a license or give --owner, one of the two.');
      }
      return answer(command, (session) => list(session, licenseId, options));
    });
}

async function list(session: Session, licenseId: string | undefined, options: ListOptions): Promise<Answer> {
  const { limit, prompts = false } = options;
  const licenseIds = await licensesOf(session, licenseId, options.owner);
  // One more than is shown tells whether there are more.
  const found = await Promise.all(licenseIds.map((one) => newest(session, one, options, limit + 1)));
  const all = found.flat().sort((a, b) => (a.requestId < b.requestId ? 1 : -1));
  const shown = all.slice(0, limit);
  const hasMore = all.length > limit;
  const older = hasMore ? '\n\nThere are older requests: --until, or --limit up to 1000, shows them.' : '';
  return {
    json: { generations: shown.map((one) => (prompts ? generationJson(one) : withoutPrompts(one))), hasMore },
    text: shown.length === 0 ? 'There are no such requests.' : listText(shown, prompts) + older,
  };
}

async function licensesOf(
  session: Session,
  licenseId: string | undefined,
  owner: string | undefined,
): Promise<string[]> {
  // A mistyped id must not look like a license without requests.
  if (licenseId !== undefined) return [(await getLicense(session, licenseId)).licenseId];
  const licenses = await session.stores.licenses.listByOwner(await session.accounts.ownerId(owner!));
  return licenses.map((license) => license.licenseId);
}

/** The newest of one license, at most `limit`. */
async function newest(
  { stores, nowMs }: Session,
  licenseId: string,
  { status, identity, key, type, since, until }: ListOptions,
  limit: number,
): Promise<Generation[]> {
  const filter: GenerationFilter = {
    ...(status && { status }),
    ...(identity && { identityId: identity }),
    ...(key && { keyId: key }),
    ...(type && { type }),
    ...(since !== undefined && { createdAfterMs: since }),
    ...(until !== undefined && { createdBeforeMs: until }),
  };
  const found: Generation[] = [];
  let before: string | null = null;
  do {
    const query = { limit: Math.min(limit, maxPerPage), before, filter, nowMs };
    const page = await stores.generations.listPage(licenseId, query);
    found.push(...page.generations);
    before = page.next;
  } while (before !== null && found.length < limit);
  return found.slice(0, limit);
}

function withoutPrompts(generation: Generation): Record<string, unknown> {
  const { prompt: _prompt, negativePrompt: _negative, ...members } = generationJson(generation);
  return members;
}

function listText(generations: Generation[], prompts: boolean): string {
  const rows = generations.map((one) => [
    one.requestId,
    one.licenseId,
    readableTime(one.createdAtMs),
    one.status,
    one.errorCode ?? '–',
    one.identity.slug,
    `${one.numOutputs} × ${one.width} × ${one.height}`,
    creditsCharged(one),
    one.keyId ?? '–',
    ...(prompts ? [one.prompt] : []),
  ]);
  const headings = [
    'REQUEST',
    'LICENSE',
    'CREATED',
    'STATUS',
    'ERROR',
    'IDENTITY',
    'OUTPUTS',
    'CREDITS',
    'KEY',
  ];
  return table(prompts ? [...headings, 'PROMPT'] : headings, rows);
}

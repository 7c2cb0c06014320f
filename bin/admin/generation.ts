import {
  generationStatuses,
  generationTypes,
  type GenerationStatus,
  type GenerationType,
} from '../../shared/base/generation-kinds.ts';
import { isoTime } from '../../shared/base/clock.ts';
import { creditsCharged, type Generation } from '../../shared/generations/generation.ts';
import type { GenerationFilter } from '../../shared/generations/pages.ts';
import { storedAnswer, storedMembers } from '../../shared/generations/answers.ts';
import type { OptionRow } from '../common/command-line.ts';
import { requestEraser } from '../common/erase.ts';
import { Failure, usageFailure } from '../common/failure.ts';
import { keyValues, listOf, readableTime, type Answer } from '../common/output.ts';
import {
  account,
  id,
  keyId,
  line,
  oneOf,
  requestId as requestIdValue,
  time,
  wholeNumber,
} from '../common/values.ts';
import type { CommandGroup, OperandRow, Session } from './command.ts';
import { getLicense } from './get-license.ts';
import { noteRequestRead, showRefused } from './refused-request.ts';

const examples = [
  'generation list --owner ada@example.com --status FAILED --since 2026-11-20',
  'generation show lic_… 019aa3c2-7b1e-7c55-9d0c-3b8f6f0e2a41',
  'generation delete lic_… 019aa3c2-7b1e-7c55-9d0c-3b8f6f0e2a41',
];

const listOptions: OptionRow[] = [
  ['--owner <account>', 'of this account instead: its Cognito sub or e-mail address', account],
  ['--status <status>', generationStatuses.join(', '), oneOf(generationStatuses)],
  ['--identity <id>', 'with this identity', id],
  ['--key <key>', 'made with this key', keyId],
  ['--type <type>', generationTypes.join(', '), oneOf(generationTypes)],
  ['--since <time>', 'accepted then or later', time],
  ['--until <time>', 'accepted before then', time],
  ['--limit <n>', 'at most so many', wholeNumber(1, 1000), { usual: 50 }],
];

const oneRequest: OperandRow[] = [
  ['<license>', 'the id of its license', id],
  ['<request>', 'its request id, as in X-Request-Id', requestIdValue],
];

export const generationCommands: CommandGroup = {
  name: 'generation',
  description: 'stored requests: list, show, delete',
  examples,
  commands: [
    {
      name: 'list',
      description: 'stored requests of a license, or of all licenses of an account, newest first',
      operands: [['[license]', 'its id', id]],
      options: listOptions,
      run(options: ListOptions, licenseId?: string) {
        if ((licenseId === undefined) === (options.owner === undefined)) {
          throw usageFailure('Name a license or give --owner, one of the two.');
        }
        return (session) => list(session, licenseId, options);
      },
    },
    {
      name: 'show',
      description: 'one stored request and its credits, without its prompt and its images; or a refused one',
      operands: oneRequest,
      options: [
        [
          '--prompt',
          "with its prompt and links to its images, which are its owner's business; needs --reason",
        ],
        [
          '--reason <reason>',
          'why you read it; the audit log keeps it, and its owner sees that it was read',
          line(200),
        ],
      ],
      run(
        { prompt = false, reason = '' }: { prompt?: boolean; reason?: string },
        licenseId: string,
        requestId: string,
      ) {
        if (prompt !== (reason !== '')) throw usageFailure('--prompt and --reason go together.');
        return (session) => show(session, licenseId, requestId, prompt ? reason : null);
      },
    },
    {
      name: 'delete',
      description:
        'erase a stored request with its images and its prompt, as its owner could; credits stay used',
      operands: oneRequest,
      asksBefore: 'it is deleted',
      run: (_, licenseId: string, requestId: string) => (session) => remove(session, licenseId, requestId),
    },
  ],
};

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
}

async function list(session: Session, licenseId: string | undefined, options: ListOptions): Promise<Answer> {
  const { limit } = options;
  const licenseIds = await licensesOf(session, licenseId, options.owner);
  // One more than is shown says whether there are more.
  const found = await Promise.all(licenseIds.map((one) => newest(session, one, options, limit + 1)));
  const all = found.flat().sort((a, b) => (a.requestId < b.requestId ? 1 : -1));
  const shown = all.slice(0, limit);
  const hasMore = all.length > limit;
  const older = hasMore ? '\n\nThere are older requests: --until, or --limit up to 1000, shows them.' : '';
  return {
    json: { generations: shown.map(withoutPrompts), hasMore },
    text: listOf(shown, columns, 'There are no such requests.') + older,
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
    const query = { limit: Math.min(limit, maxPerPage), before, filter, reads: null, nowMs };
    const page = await stores.generations.listPage(licenseId, query);
    found.push(...page.generations);
    before = page.next;
  } while (before !== null && found.length < limit);
  return found.slice(0, limit);
}

export function withoutPrompts(generation: Generation): Record<string, unknown> {
  const {
    prompt: _prompt,
    effectivePrompt: _effective,
    negativePrompt: _negative,
    ...members
  } = generationJson(generation);
  return members;
}

const columns = {
  REQUEST: (one: Generation) => one.requestId,
  LICENSE: (one: Generation) => one.licenseId,
  CREATED: (one: Generation) => readableTime(one.createdAtMs),
  STATUS: (one: Generation) => one.status,
  ERROR: (one: Generation) => one.errorCode,
  IDENTITY: (one: Generation) => one.identity.slug,
  OUTPUTS: (one: Generation) => `${one.numOutputs} × ${one.width} × ${one.height}`,
  CREDITS: creditsCharged,
  KEY: (one: Generation) => one.keyId,
};

/** @param reason why its prompt and its images are looked at; null where they are not */
async function show(
  session: Session,
  licenseId: string,
  requestId: string,
  reason: string | null,
): Promise<Answer> {
  const { stores, bucketName } = session;
  const noteReason = reason === null ? null : () => noteRequestRead(session, licenseId, requestId, reason);
  const generation = await stores.generations.get(licenseId, requestId);
  if (generation === null) {
    const refused = await showRefused(session, licenseId, requestId, noteReason);
    if (refused === null) throw await missingRequest(session, licenseId, requestId);
    return refused;
  }
  if (noteReason === null) return { json: withoutPrompts(generation), text: generationText(generation) };
  await noteReason();
  const { objectStore } = await import('../../shared/images/object-store.ts');
  const linked = bucketName === null ? null : await storedAnswer(generation, objectStore(bucketName));
  const { outputs = [] } = linked ?? {};
  const asked = keyValues([
    ['Prompt', generation.prompt],
    ['What the model got', generation.effectivePrompt],
    ['Negative prompt', generation.negativePrompt],
  ]);
  return {
    json: { ...generationJson(generation), outputs },
    text: [generationText(generation), asked, ...outputs].join('\n'),
  };
}

/** Without what it was asked for. */
export function generationText(generation: Generation): string {
  const { identity, numOutputs, width, height, outputFormat, errorCode, errorMessage } = generation;
  const error = errorMessage === null ? null : `${errorCode ?? ''} ${errorMessage}`.trim();
  return keyValues([
    ['Request', generation.requestId],
    ['License', generation.licenseId],
    ['Key', generation.keyId],
    ['Status', generation.status],
    ['Error', error],
    ['Identity', `${identity.name} (${identity.id})`],
    ['Type', generation.type],
    ['Seed', generation.seed],
    ['Steps', generation.steps],
    ['Guidance scale', generation.cfgScale],
    ['Outputs', `${numOutputs} of ${width} × ${height} px, ${outputFormat}`],
    ['References used', generation.referenceImagesUsed],
    ['Model version', generation.modelVersion],
    ['Credits', `${generation.credits} reserved, ${creditsCharged(generation)} charged`],
    ['Billing period', `from ${readableTime(generation.periodStartMs)}`],
    ['Created', readableTime(generation.createdAtMs)],
    ['Started', readableTime(generation.startedAtMs)],
    ['Completed', readableTime(generation.completedAtMs)],
    ['Deadline', readableTime(generation.deadlineMs)],
    ['Lease until', readableTime(leaseUntilMs(generation))],
    ['Kept until', readableTime(generation.expiresAtMs)],
  ]);
}

/** The lease's end is stored only while it runs. */
function leaseUntilMs(generation: Generation): number | null {
  return generation.leaseUntilMs === 0 ? null : generation.leaseUntilMs;
}

/** As GET /generate/{requestId} shows it, without links and with the operator's own members. */
function generationJson(generation: Generation): Record<string, unknown> {
  return {
    ...storedMembers(generation),
    requestId: generation.requestId,
    // The playground's caller too, which its owner does not see.
    keyId: generation.keyId,
    creditsReserved: generation.credits,
    periodStart: isoTime(generation.periodStartMs),
    deadline: isoTime(generation.deadlineMs),
    leaseUntil: isoTime(leaseUntilMs(generation)),
    expiresAt: isoTime(generation.expiresAtMs),
  };
}

/** @returns what to say of a request that is not there. @throws Failure when there is not even its license. */
async function missingRequest(session: Session, licenseId: string, requestId: string): Promise<Failure> {
  await getLicense(session, licenseId);
  return new Failure(`The license ${licenseId} has no request ${requestId}.`);
}

async function remove(session: Session, licenseId: string, requestId: string): Promise<Answer> {
  const { bucketName, stores, confirm } = session;
  if (bucketName === null) {
    throw usageFailure('Images lie in the bucket of a stack: name the stack with --stack.');
  }
  const stored = await stores.deletions.find([licenseId], requestId);
  if (stored === null || ('deletion' in stored && stored.deletion.isErased)) {
    throw await missingRequest(session, licenseId, requestId);
  }
  await confirm({
    what: `delete the request ${requestId}`,
    losses: ['Its owner loses its images, its prompt and its place in the history, for good.'],
  });
  await (await requestEraser(stores, bucketName)).remove(licenseId, requestId);
  return {
    json: { requestId, deleted: true },
    text: `Deleted ${requestId}: its images and its prompt are gone.`,
  };
}

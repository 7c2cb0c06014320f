import { describeIssues, queryProblems } from '../base/fields.ts';
import { memberName, ownWords, ServiceError, type Words } from '../base/errors.ts';
import { usableIdentity, type Identity } from '../identities/identity.ts';
import { pinnedProblem, withDefaults, type PinnedVersion } from '../identities/version.ts';
import type { License } from '../licenses/license.ts';
import { createGenerationBody, type CreateGenerationBody } from './contract.ts';
import { checkTier, referenceProblems } from './generation.ts';
import { readIdempotencyKey } from './idempotency.ts';

/** What the checks of a request read. */
export interface UncheckedCommand {
  license: License;
  /** In the members of POST /generate, whatever format it was sent in. */
  body: Record<string, unknown>;
  /** Those that its format takes. @default dryRun */
  queryParameters?: readonly string[];
  /** A sentence about what was sent and has no place in `body`. */
  bodyProblem?: string | null;
  query: ReadonlyMap<string, readonly string[]>;
  /** Every value of Idempotency-Key; undefined where it was not sent. */
  idempotencyKeys: readonly string[] | undefined;
  /** The identity that the body names; null where there is none with that id or slug. */
  identity: Identity | null;
  /** The version that the body names; null where that is the active one, or none. */
  pinned: PinnedVersion | null;
}

export interface CheckedCommand {
  /** Its model is the version that the request gets; null while the identity has no active one. */
  identity: Identity;
  body: CreateGenerationBody;
}

/**
 * Checks who may use the identity, then the parameters and the tier. The first failure is thrown.
 * @throws MISSING_IDENTITY, IDENTITY_NOT_FOUND, IDENTITY_MISMATCH, INVALID_PARAMETERS, TIER_LIMIT
 */
export function checkCommand(command: UncheckedCommand, nowMs: number): CheckedCommand {
  const allowed = allowedIdentity(command);
  const problem = pinnedProblem(allowed, command.pinned, nowMs);
  // Without an active version no other is to be had either.
  const model = allowed.model && (command.pinned?.found ?? allowed.model);
  const identity = { ...allowed, model };
  const body = parseParameters(command, identity, problem);
  checkTier(body, command.license.tier);
  return { identity, body };
}

function allowedIdentity(command: UncheckedCommand): Identity {
  const { body, identity, license } = command;
  const { identityId } = body;
  if (identityId === undefined || identityId === null || identityId === '') {
    throw new ServiceError('MISSING_IDENTITY', ({ noIdentity }) => noIdentity);
  }
  // What is no text can't be unknown: this throws, and names whatever else is wrong, too.
  if (typeof identityId !== 'string') parseParameters(command, null);
  return usableIdentity(identity, [license]);
}

/**
 * Checks the query, the header and the body together.
 * @param identity null where it is not known.
 * @param versionProblem what is wrong with the version that the body names; null where nothing is.
 * @throws INVALID_PARAMETERS naming all that is wrong with them.
 */
export function parseParameters(
  command: Pick<UncheckedCommand, 'body' | 'queryParameters' | 'bodyProblem' | 'query' | 'idempotencyKeys'>,
  identity: Identity | null,
  versionProblem: string | null = null,
): CreateGenerationBody {
  const { body: sent, queryParameters = ['dryRun'], bodyProblem, query, idempotencyKeys } = command;
  const body = identity?.model ? withDefaults(sent, identity.model.words) : sent;
  const parsed = createGenerationBody.safeParse(body);
  const sentence = (words: Words) => {
    const { idempotencyKey, members } = words;
    const problems = queryProblems(query, queryParameters);
    const [dryRun = 'false'] = query.get('dryRun') ?? [];
    // A caller who asks for a dry run in other words must not pay for a real one.
    if (dryRun !== 'true' && dryRun !== 'false') problems.push('dryRun must be true or false');
    if (idempotencyKeys && readIdempotencyKey(idempotencyKeys) === null) {
      problems.push(`${idempotencyKey} must be 1 to 255 visible ASCII characters`);
    }
    problems.push(...referenceProblems(body, identity, words));
    if (versionProblem !== null) problems.push(`${memberName('identityVersion', words)}: ${versionProblem}`);
    const sentences = problems.map((problem) => `${problem}.`);
    if (bodyProblem) sentences.push(bodyProblem);
    if (!parsed.success) sentences.push(describeIssues(parsed.error.issues, members));
    return sentences.join(' ');
  };
  if (!parsed.success || sentence(ownWords) !== '') throw new ServiceError('INVALID_PARAMETERS', sentence);
  return parsed.data;
}

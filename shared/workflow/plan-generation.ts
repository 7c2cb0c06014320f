import {
  createGenerationBody,
  type CreateGenerationBody,
  type ReferenceItem,
} from '../contracts/generation.ts';
import { describeIssues } from '../contracts/fields.ts';
import { checkReferences, checkTier } from '../domain/generation.ts';
import type { Identity } from '../domain/identity.ts';
import { mayUse, type License } from '../domain/license.ts';
import { ServiceError } from '../errors.ts';

export interface PlanInput {
  license: License;
  /** The request's body, parsed but not yet looked at. */
  body: Record<string, unknown>;
  /** The identity that the body names, null when there is none of that id. */
  identity: Identity | null;
  /** What is wrong with the request beside its body. */
  problems: string[];
}

export interface Plan {
  identity: Identity;
  body: CreateGenerationBody;
}

/**
 * Every check that needs no books, in the order in which the first failure is told.
 * @param prepareReferences looks at the images themselves: what is wrong with them is a wrong parameter too.
 * @throws MISSING_IDENTITY, IDENTITY_NOT_FOUND, IDENTITY_MISMATCH, INVALID_PARAMETERS, TIER_LIMIT, SERVICE_UNAVAILABLE
 */
export async function planGeneration(
  { license, body, identity, problems }: PlanInput,
  prepareReferences: (items: ReferenceItem[]) => Promise<void>,
): Promise<Plan> {
  const { identityId } = body;
  if (identityId === undefined || identityId === null || identityId === '') {
    throw new ServiceError('MISSING_IDENTITY', 'identityId is missing: send the ID of the identity to use.');
  }
  if (identity === null) {
    throw new ServiceError(
      'IDENTITY_NOT_FOUND',
      'No identity has this identityId. GET /identities lists those that you may use.',
    );
  }
  if (!mayUse(license, identity)) {
    throw new ServiceError(
      'IDENTITY_MISMATCH',
      `This license does not cover ${identity.name}. GET /identities lists the identities that you may use.`,
    );
  }
  const parsed = createGenerationBody.safeParse(body);
  const sentences = problems.map((problem) => `${problem}.`);
  if (!parsed.success) sentences.push(describeIssues(parsed.error.issues));
  if (!parsed.success || sentences.length > 0) {
    throw new ServiceError('INVALID_PARAMETERS', sentences.join(' '));
  }
  checkReferences(parsed.data, identity);
  await prepareReferences(parsed.data.referenceImages);
  checkTier(parsed.data, license.tier);
  return { identity, body: parsed.data };
}

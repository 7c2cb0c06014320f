import { generationStatuses, generationTypes } from '../contracts/generation.ts';
import { isId } from '../domain/ids.ts';
import { ServiceError } from '../errors.ts';
import type { GenerationFilter } from '../store/generation-store.ts';

/**
 * Reads the filter of a history from its query.
 * @throws INVALID_PARAMETERS naming every parameter that can't be a filter.
 */
export function readFilter(query: { identityId?: string; status?: string; type?: string }): GenerationFilter {
  const problems: string[] = [];
  const oneOf = <T extends string>(name: string, sent: string | undefined, allowed: readonly T[]) => {
    const found = allowed.find((value) => value === sent);
    if (sent !== undefined && found === undefined)
      problems.push(`${name} must be one of ${allowed.join(', ')}`);
    return found;
  };
  const { identityId } = query;
  if (identityId !== undefined && !isId(identityId))
    problems.push('identityId must be the id of an identity');
  const status = oneOf('status', query.status, generationStatuses);
  const type = oneOf('type', query.type, generationTypes);
  if (problems.length > 0) throw new ServiceError('INVALID_PARAMETERS', `${problems.join('; ')}.`);
  return {
    ...(identityId === undefined ? {} : { identityId }),
    ...(status === undefined ? {} : { status }),
    ...(type === undefined ? {} : { type }),
  };
}

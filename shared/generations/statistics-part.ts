import type { Generation } from './generation.ts';
import { tallyNames } from '../licenses/period-store.ts';
import { itemKeys } from '../table/keys.ts';
import type { Part } from '../table/transact.ts';

/** Counts a charge by type, identity, day and key, in the item of its period. */
export function countCharge(ended: Generation): Part {
  const { type, identity, credits } = ended;
  const tallies = tallyNames({
    type,
    identityId: identity.id,
    completedAtMs: ended.completedAtMs!,
    keyId: ended.countedByKey ? ended.keyId : null,
  });
  return {
    key: itemKeys.period(ended.licenseId, ended.periodStartMs),
    update: { ADD: tallies.map((_, i) => `#requests${i} :one, #credits${i} :credits`).join(', ') },
    names: Object.fromEntries(
      tallies.flatMap(([requestsName, creditsName], i) => [
        [`#requests${i}`, requestsName],
        [`#credits${i}`, creditsName],
      ]),
    ),
    values: { ':one': 1, ':credits': credits },
  };
}

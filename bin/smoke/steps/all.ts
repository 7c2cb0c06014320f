import type { Step } from '../step.ts';
import {
  generatesImage,
  opensLink,
  refetchesRequest,
  refusesWithoutModel,
  repeatsFree,
} from './generation.ts';
import { looksAtReferences } from './references.ts';
import { hasNoOtherRoutes, refusesExpiredLink, refusesRevokedKey, refusesWrongKey } from './refusals.ts';
import { countsUsage } from './usage.ts';
import { agreesOnSignIn, answersPreflight, isHealthy } from './web.ts';

/** In the order in which they run: the key is revoked last. */
export const steps: readonly Step[] = [
  isHealthy,
  generatesImage,
  refusesWithoutModel,
  opensLink,
  refetchesRequest,
  countsUsage,
  repeatsFree,
  looksAtReferences,
  refusesExpiredLink,
  refusesWrongKey,
  refusesRevokedKey,
  hasNoOtherRoutes,
  answersPreflight,
  agreesOnSignIn,
];

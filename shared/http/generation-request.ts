import { promptCheckOf } from '#prompt-check';
import { generationQueue } from '../generations/generation-queue.ts';
import { referenceFetcherClient } from '../references/reader-client.ts';
import { bodyFingerprint, readIdempotencyKey } from '../generations/idempotency.ts';
import { isId } from '../base/ids.ts';
import { hashIdempotencyKey, readIdempotencyRecord } from '../generations/idempotency-store.ts';
import { identityByName, identityCatalog, identityStore, type IdentityCatalog } from '../identities/store.ts';
import { rateLogStore } from '../limits/rate-log-store.ts';
import { periodStore } from '../licenses/period-store.ts';
import { isVersionNumber } from '../identities/version.ts';
import type { Table } from '../table/table.ts';
import type { GenerationDeps } from '../generations/create.ts';
import type { GenerationCommand } from '../generations/decide.ts';
import type { EnqueueDeps } from '../generations/enqueue.ts';
import type { License } from '../licenses/license.ts';
import { asyncPreference } from './prefer.ts';
import type { ApiRequest } from './request.ts';
import { runDeps } from './run-deps.ts';
import { lazy } from '../base/lazy.ts';
import type { Runtime } from './runtime.ts';

export interface GenerationRequestDeps {
  table: Table;
  identities: IdentityCatalog;
  /** What all requests share. The meter is each request's own. */
  workflow: Omit<GenerationDeps, 'meter'>;
}

/** What the worker's requests need, too: those whose callers do not wait. */
export type SharedDeps = Omit<GenerationDeps & EnqueueDeps, 'meter'>;

export function generationDeps(runtime: Runtime): GenerationRequestDeps & { workflow: SharedDeps } {
  const { workflow, ...deps } = waitingGenerationDeps(runtime);
  const queue = generationQueue(runtime.env.generationQueueUrl, runtime.env.sqsUrl);
  return { ...deps, workflow: { ...workflow, queue } };
}

/** For a function whose callers wait for every request. */
export function waitingGenerationDeps(runtime: Runtime): GenerationRequestDeps {
  const { env, table, clock } = runtime;
  // Made at its first call: a function that may not call the fetcher has no address of it.
  const references = lazy(() => referenceFetcherClient(env.referenceFetcherUrl));
  return {
    table: table(),
    identities: identityCatalog(identityStore(table()), clock),
    workflow: {
      ...runDeps(runtime),
      periods: periodStore(table()),
      references: { fetch: (command) => references().fetch(command) },
      rateLogs: rateLogStore(table()),
      promptCheck: promptCheckOf(runtime),
      deadlineSeconds: env.generationDeadlineSeconds,
      asyncDeadlineSeconds: env.asyncDeadlineSeconds,
      retentionDays: env.retentionDays,
    },
  };
}

/** A body, who sent it, and by which license. */
export interface SentBody {
  callerId: string;
  /** See `GenerationCommand`. */
  keyBudget: number | null;
  keyMaxInFlight: number | null;
  /** A promise where it is still being read: what the body names is read at the same time. */
  license: License | Promise<License>;
  body: Record<string, unknown>;
}

/**
 * A request to generate, with what its body and headers name, read in one round trip. An identity or idempotency key that
 * can be none is null here, and `decideGeneration` refuses it.
 */
export async function readCommand(
  { requestId, rawBody, query, headers }: Pick<ApiRequest, 'requestId' | 'rawBody' | 'query' | 'headers'>,
  { callerId, keyBudget, keyMaxInFlight, license: read, body }: SentBody,
  { table, identities }: { table: Table; identities: IdentityCatalog },
): Promise<GenerationCommand> {
  const idempotencyKeys = headers.get('idempotency-key');
  const idempotencyKey = readIdempotencyKey(idempotencyKeys);
  const idempotencyKeyHash = idempotencyKey === null ? null : hashIdempotencyKey(idempotencyKey);
  const [license, { identity, pinned }, idempotencyRecord] = await Promise.all([
    read,
    readIdentity(body, identities),
    idempotencyKeyHash === null ? null : readIdempotencyRecord(table, callerId, idempotencyKeyHash),
  ]);
  return {
    requestId,
    keyId: callerId,
    keyBudget,
    keyMaxInFlight,
    license,
    body,
    bodyHash: bodyFingerprint(rawBody),
    query,
    idempotencyKeys,
    idempotencyKeyHash,
    idempotencyRecord,
    identity,
    pinned,
    respondAsync: asyncPreference({ headers }) !== null,
  };
}

/** The identity that a body names, by its id or a slug, and the version, where it names another than the active one. */
async function readIdentity(
  { identityId, identityVersion: asked }: Record<string, unknown>,
  identities: IdentityCatalog,
): Promise<Pick<GenerationCommand, 'identity' | 'pinned'>> {
  const canBe = typeof identityId === 'string' && isId(identityId);
  const identity = canBe ? await identityByName(identities, identityId) : null;
  if (identity === null || !isVersionNumber(asked) || asked === identity.model?.number) {
    return { identity, pinned: null };
  }
  return { identity, pinned: { asked, found: await identities.version(identity.identityId, asked) } };
}

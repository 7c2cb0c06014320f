/**
 * The single table: every key is built here and nowhere else.
 *
 * Item        PK                SK               index   read by
 * API key     KEY#<keyId>       KEY              owner   authentication (strong); an account's keys, newest first
 * Rate log    RATE#<caller>     <name>           –       authentication, with the key; also says when a key was last used
 * Idempotency ONCE#<caller>     <hash>           –       the request that first carried an idempotency key
 * Tries       TRY#<key>         <digest>#<uuidv7> –     a later try of a request without an idempotency key: the earlier one of the same members
 * License     LICENSE#<id>      LICENSE          owner   access checks; an account's licenses
 * Billing     LICENSE#<id>      BILLING          both    billing events: what is remembered of the license's subscription; by Stripe's id of its customer
 * Active keys ROSTER#<license>  KEYS             –       issuing and revoking keys: the license's keys that are not revoked
 * Period      PERIOD#<license>  <start>          –       credits committed and used, statistics; the newest also counts what is in flight
 * In flight   PERIOD#<license>  IN-FLIGHT        –       which period counts the license's requests in flight
 * Extra       PERIOD#<license>  EXTRA            –       what is left of each gift or pack of credits: read where a period's own do not suffice
 * Purchase    PURCHASE#<id>     PURCHASE         –       a gift or a pack by its payment: adding it, and its refunds
 * Account     ACCOUNT#<sub>     SETTINGS         –       what the owner of licenses has chosen
 * Notification NOTICES          <license>#…      –       the job that sends notifications of used credits by e-mail, until it has
 * Generation  GEN#<license>     <uuidv7>         lease   re-fetch; history, newest first; sweep (only while it runs)
 * Deletion    DELETION#<license> <uuidv7>       lease   deleting a request; sweep, until nothing can bring its images back
 * Identity    CATALOG           IDENTITY#<id>    –       one; all of them
 * Cold start  MODEL             WAKING           –       since when a model that was scaled to zero starts, and how long that took lately
 * Signing     LINKS             <quarter>        –       links to previews: the credentials that sign them in a quarter of an hour
 * Refusals    REFUSED#<license> <date>#<caller> –     how often a key or the playground (the caller here) was refused on a day, by code and category
 * Refused     REFUSED#<license> REQUEST#<uuidv7> –    one request that was refused, for its license's owner, newest first
 * Prompt      REFUSED#<license> PROMPT#<uuidv7> –     what such a request asked for, where the operator has it kept: the operator alone
 * Audit       AUDIT#LICENSE#<id>  <uuidv7>      –       who changed a license or its keys, newest first; identities: AUDIT#IDENTITY
 *
 * IAM knows partitions, not sort keys. So what gives access (keys, licenses, identities) shares its partition with nothing
 * that a function for customers writes.
 *
 * A keyId is the first half of the raw key's SHA-256 (see keys/api-key.ts), so a raw key and its public id lead
 * to the same item without an index. A generation lives in its license's partition: a key that names no license can't be
 * built, so no caller reaches another's. A caller is a keyId, or `acct_<sub>` for an account that uses the playground
 * or reads by session: its rate limits and idempotency keys work like a key's. Nothing from outside becomes part of a
 * key before its shape was checked.
 */

/** A notification: one for each part of a period's credits. */
interface NotificationRef {
  licenseId: string;
  periodStartMs: number;
  percent: number;
}

export interface ItemKey extends Record<string, string> {
  PK: string;
  SK: string;
}

export const generationPrefix = 'GEN#';
export const notificationPartition = 'NOTICES';
export const deletionPrefix = 'DELETION#';
/** Two beside a license's periods, whose sort keys are instants: less than either, and so than the first of the two. */
export const extraSortKey = 'EXTRA';
export const inFlightSortKey = 'IN-FLIGHT';

/** Beside a license's counts of refusals, whose sort keys begin with a date. */
export const refusedPrefix = 'REQUEST#';

export const itemKeys = {
  apiKey: (keyId: string): ItemKey => ({ PK: `KEY#${keyId}`, SK: 'KEY' }),
  rateLog: (callerId: string, limitName: string): ItemKey => ({
    PK: `RATE#${callerId}`,
    SK: limitName,
  }),
  idempotencyRecord: (callerId: string, idempotencyKeyHash: string): ItemKey => ({
    PK: `ONCE#${callerId}`,
    SK: idempotencyKeyHash,
  }),
  /** @param firstId the request that was the first of these tries */
  sdkTry: (callerId: string, digest: string, firstId: string): ItemKey => ({
    PK: `TRY#${callerId}`,
    SK: `${digest}#${firstId}`,
  }),
  license: (licenseId: string): ItemKey => ({ PK: `LICENSE#${licenseId}`, SK: 'LICENSE' }),
  activeKeys: (licenseId: string): ItemKey => ({ PK: `ROSTER#${licenseId}`, SK: 'KEYS' }),
  billing: (licenseId: string): ItemKey => ({ PK: `LICENSE#${licenseId}`, SK: 'BILLING' }),
  period: (licenseId: string, startMs: number): ItemKey => ({
    PK: `PERIOD#${licenseId}`,
    SK: new Date(startMs).toISOString(),
  }),
  inFlight: (licenseId: string): ItemKey => ({ PK: `PERIOD#${licenseId}`, SK: inFlightSortKey }),
  extraCredits: (licenseId: string): ItemKey => ({ PK: `PERIOD#${licenseId}`, SK: extraSortKey }),
  purchase: (paymentId: string): ItemKey => ({ PK: `PURCHASE#${paymentId}`, SK: 'PURCHASE' }),
  generation: (licenseId: string, requestId: string): ItemKey => ({
    PK: `${generationPrefix}${licenseId}`,
    SK: requestId,
  }),
  notification: ({ licenseId, periodStartMs, percent }: NotificationRef): ItemKey => ({
    PK: notificationPartition,
    SK: `${licenseId}#${new Date(periodStartMs).toISOString()}#${percent}`,
  }),
  account: (ownerId: string): ItemKey => ({ PK: `ACCOUNT#${ownerId}`, SK: 'SETTINGS' }),
  deletion: (licenseId: string, requestId: string): ItemKey => ({
    PK: `${deletionPrefix}${licenseId}`,
    SK: requestId,
  }),
  refusals: (licenseId: string, date: string, caller: string): ItemKey => ({
    PK: `REFUSED#${licenseId}`,
    SK: `${date}#${caller}`,
  }),
  refusedRequest: (licenseId: string, requestId: string): ItemKey => ({
    PK: `REFUSED#${licenseId}`,
    SK: `${refusedPrefix}${requestId}`,
  }),
  refusedPrompt: (licenseId: string, requestId: string): ItemKey => ({
    PK: `REFUSED#${licenseId}`,
    SK: `PROMPT#${requestId}`,
  }),
  identity: (identityId: string): ItemKey => ({ PK: 'CATALOG', SK: `IDENTITY#${identityId}` }),
  // Numbers of one length, so that they sort as numbers do.
  identityVersion: (identityId: string, number: number): ItemKey => ({
    PK: 'CATALOG',
    SK: `VERSION#${identityId}#${String(number).padStart(6, '0')}`,
  }),
  slug: (slug: string): ItemKey => ({ PK: 'CATALOG', SK: `SLUG#${slug}` }),
  coldStart: (): ItemKey => ({ PK: 'MODEL', SK: 'WAKING' }),
  linkCredentials: (quarterMs: number): ItemKey => ({ PK: 'LINKS', SK: new Date(quarterMs).toISOString() }),
  licenseAudit: (licenseId: string, entryId: string): ItemKey => ({
    PK: `AUDIT#LICENSE#${licenseId}`,
    SK: entryId,
  }),
  identityAudit: (entryId: string): ItemKey => ({ PK: 'AUDIT#IDENTITY', SK: entryId }),
};

/** Of a generation's license, whose partition it is in. */
export function licenseIdOfGeneration(key: Record<string, unknown>): string {
  return String(key.PK).slice(generationPrefix.length);
}

/** Of a deleted request's license, whose partition its deletion is in. */
export function licenseIdOfDeletion(key: Record<string, unknown>): string {
  return String(key.PK).slice(deletionPrefix.length);
}

/** Of counts of refusals: their day, and the key or the playground that was refused. */
export function refusalPlaceOf(key: Record<string, unknown>): { date: string; caller: string } {
  const [date = '', caller = ''] = String(key.SK).split('#');
  return { date, caller };
}

/** How the sort keys of each kind begin, for queries. */
export const sortPrefixes = {
  identity: 'IDENTITY#',
  apiKey: 'KEY#',
  license: 'LICENSE#',
  subscription: 'SUBSCRIPTION#',
};

/** Keys and licenses of an account, and subscriptions of a customer of Stripe's, by `begins_with` on the kind, in order of creation. */
export const ownerIndex = {
  name: 'owner',
  partition: 'ownerPk',
  sort: 'ownerSk',
  of: (ownerId: string) => `OWNER#${ownerId}`,
  sortOf: (prefix: string, createdAtMs: number, id: string) =>
    `${prefix}${new Date(createdAtMs).toISOString()}#${id}`,
} as const;

const leaseShards = 8;

/**
 * A sparse index: it holds only generations that still hold credits, spread over shards so that no partition runs hot, and
 * deletions that are not over. Those lie apart, so that a bucket that is away keeps nobody's credits held. Subscriptions that
 * nobody owns are listed, too.
 */
export const leaseIndex = {
  name: 'lease',
  partition: 'leaseShard',
  sort: 'leaseUntilMs',
  shards: Array.from({ length: leaseShards }, (_, i) => `LEASE#${i}`),
  deletions: 'DELETIONS',
  unbound: 'UNBOUND',
  shardOf: (requestId: string) => `LEASE#${Number.parseInt(requestId.slice(-4), 16) % leaseShards}`,
} as const;

/** Seconds since 1970. DynamoDB may remove an item days after it, so nothing is decided by its absence. */
export const ttlAttribute = 'ttl';

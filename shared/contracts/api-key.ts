import * as z from 'zod/mini';
import { text } from './fields.ts';

const idRule = 'must be the id of one of your licenses';
const expiryRule = 'must be an ISO 8601 time with its zone, as in 2027-01-31T18:00:00Z';

/** Years of more than four digits have a spelling that no other time of this API has. */
const lastMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
const expiry = z.iso
  .datetime({ offset: true, error: expiryRule })
  .check(z.refine((value) => Date.parse(value) <= lastMs, expiryRule));

/** The body of POST /keys. Whether `expiresAt` lies ahead is the domain's to say. */
export const createKeyBody = z.strictObject(
  {
    licenseId: z.string(idRule),
    name: text(1, 64),
    expiresAt: z.optional(z.nullable(expiry)),
  },
  'must be a JSON object',
);

export type CreateKeyBody = z.infer<typeof createKeyBody>;

export type KeyStatus = 'active' | 'expired' | 'revoked';

/** The answer of POST /keys, status 201: the only time that `key` is shown. */
export interface CreatedKey {
  keyId: string;
  /** The raw key. */
  key: string;
  keyPrefix: string;
  name: string;
  licenseId: string;
  /** ISO 8601 UTC. */
  createdAt: string;
  expiresAt: string | null;
}

/** What is shown of a key afterwards: an item of GET /keys. */
export interface KeyAnswer {
  keyId: string;
  /** The first characters of the raw key. */
  keyPrefix: string;
  name: string;
  licenseId: string;
  status: KeyStatus;
  createdAt: string;
  lastUsedAt: string | null;
  expiresAt: string | null;
  revokedAt: string | null;
}

/** The answer of GET /keys: every key of the account, newest first. */
export interface KeyList {
  keys: KeyAnswer[];
}

/** The answer of DELETE /keys/{keyId}; asking again answers the same. */
export interface RevokedKey {
  keyId: string;
  status: 'revoked';
  revokedAt: string;
}

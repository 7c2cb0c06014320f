import * as z from 'zod/mini';
import { extraRemaining } from '../licenses/usage-contract.ts';
import { count, described, timestamp } from '../base/answer-fields.ts';
import { identityAnswer } from '../identities/contract.ts';
import { keyAccesses } from './contract.ts';

const keyId = described(
  z.string().check(z.regex(/^key_[0-9a-f]{32}$/)),
  'What the key goes by. It opens nothing.',
);
const keyPrefix = described(z.string(), 'The first characters of the raw key, to know it by.');
const expiresAt = described(z.nullable(timestamp), 'Null for a key that does not expire.');

const monthlyCredits = described(
  z.nullable(count),
  "Its budget: the credits of its license's period that it may use. Null for none of its own.",
);

const access = described(
  z.enum(keyAccesses),
  "What it reads and deletes: all of its license's requests, or its `own`.",
);
const maxInFlight = described(
  z.nullable(count),
  'How many of its requests may be in flight at a time. Null for as many as its license may.',
);

/** The answer of POST /keys, status 201. */
export const createdKey = z.object({
  keyId,
  key: described(
    z.string().check(z.regex(/^svc_live_[0-9A-Za-z]{38}$/)),
    'The raw key. This is the only time that it is shown.',
  ),
  keyPrefix,
  name: z.string(),
  licenseId: z.string(),
  createdAt: timestamp,
  expiresAt,
  monthlyCredits,
  access,
  maxInFlight,
});

const keyStatus = z.enum(['active', 'expired', 'revoked']);

/** An item of GET /keys, and the answer of PATCH /keys/{keyId}. It never holds the raw key. */
export const keyAnswer = z.object({
  keyId,
  keyPrefix,
  name: z.string(),
  licenseId: z.string(),
  status: keyStatus,
  createdAt: timestamp,
  lastUsedAt: described(
    z.nullable(timestamp),
    'When it was last used, if ever. A list of all keys, without `limit`, has it for active keys only.',
  ),
  expiresAt,
  revokedAt: described(z.nullable(timestamp), 'Null unless it was revoked.'),
  monthlyCredits,
  access,
  maxInFlight,
  creditsUsed: described(
    count,
    "What its completed requests were charged in its license's period that runs.",
  ),
});

/** The answer of GET /keys. */
export const keyList = z.object({
  keys: described(
    z.array(keyAnswer),
    'Newest first. Keys that expired or were revoked are listed for 90 days. A page may hold fewer than `limit` and still ' +
      'have a next one, and so may a list of more than 6,000 keys.',
  ),
  nextCursor: described(
    z.nullable(z.string()),
    'Send it as `cursor` for the next page; null on the last one.',
  ),
});

/** The answer of DELETE /keys/{keyId}. Repeating the request gives the same answer. */
export const revokedKey = z.object({ keyId, status: z.literal('revoked'), revokedAt: timestamp });

const allowedCredits = {
  used: described(count, 'What completed requests were charged in the period that runs.'),
  remaining: described(
    count,
    'What new requests may still be charged: what requests in flight hold is taken off. Never below 0.',
  ),
};

const keyLicense = z.object({
  licenseId: z.string(),
  name: described(z.string(), "As the account's list of licenses has it."),
  tier: described(z.string(), "The tier's label."),
  maxOutputs: described(z.int(), 'The largest `numOutputs` of a request.'),
  maxSidePx: described(z.int(), 'The largest `width` and `height` of a request, in pixels.'),
  maxInFlight: described(z.int(), 'How many of its requests may be in flight at a time.'),
  inFlight: described(count, 'How many are, whoever sent them.'),
});

/** The answer of GET /key. */
export const keyAllowance = z.object({
  keyId,
  keyPrefix,
  name: z.string(),
  expiresAt,
  access,
  license: described(keyLicense, 'The one that the key is of.'),
  credits: described(
    z.object({
      limit: described(count, 'Credits of the period that runs.'),
      ...allowedCredits,
      extraRemaining,
      resetsAt: described(timestamp, 'When the credits of the next period begin.'),
    }),
    'Of its license, whichever key used them.',
  ),
  budget: described(
    z.nullable(
      z.object({
        monthlyCredits: described(count, 'Credits of the period that it may use.'),
        ...allowedCredits,
      }),
    ),
    'Of the key itself, in the same period. Null for a key without one.',
  ),
  maxInFlight,
  inFlight: described(
    z.nullable(count),
    'How many of its requests are in flight. Null for a key without a limit of its own.',
  ),
  requests: described(
    z.object({
      perMinute: described(count, 'How many requests to generate the key may send in any 60 seconds.'),
      remaining: described(count, 'How many of them it may send now.'),
      resetSeconds: described(count, 'Seconds until one more becomes free; 0 where all are.'),
    }),
    'The limit of `POST /generate`. Asking for it takes nothing of it.',
  ),
  identities: described(
    z.array(z.pick(identityAnswer, { id: true, name: true, slug: true, available: true })),
    'Those that it may use, by name.',
  ),
});

export type KeyAllowance = z.infer<typeof keyAllowance>;
export type KeyStatus = z.infer<typeof keyStatus>;
export type CreatedKey = z.infer<typeof createdKey>;
export type KeyAnswer = z.infer<typeof keyAnswer>;
export type KeyList = z.infer<typeof keyList>;
export type RevokedKey = z.infer<typeof revokedKey>;

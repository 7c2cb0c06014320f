import * as z from 'zod/mini';
import { activityActions } from '../accounts/audit.ts';
import { described, timestamp } from '../base/answer-fields.ts';

const value = z.nullable(z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]));

/** A member of a license or of a key that was changed. */
const change = z.object({
  member: described(z.string(), 'As in `GET /licenses` and `GET /keys`.'),
  from: described(value, 'What it was; of a list, what was taken away.'),
  to: described(value, 'What it is; of a list, what was added.'),
});

const activityItem = z.object({
  id: z.string(),
  at: described(timestamp, 'When it was changed.'),
  by: described(
    z.enum(['owner', 'operator', 'billing']),
    "The account itself, whoever operates the service, or a payment's event.",
  ),
  action: described(z.enum(activityActions), 'What was done.'),
  keyId: described(z.nullable(z.string()), 'Null unless it is about a key.'),
  keyName: described(z.nullable(z.string()), 'Null unless it is about a key.'),
  changes: described(z.array(change), 'Which members changed; none for a key that was revoked.'),
});

/** The answer of GET /licenses/{licenseId}/activity. */
export const activityList = z.object({
  activity: described(z.array(activityItem), 'Newest first.'),
  nextCursor: described(
    z.nullable(z.string()),
    'Send it as `cursor` for the next page; null on the last one.',
  ),
});

export type ActivityItem = z.infer<typeof activityItem>;
export type ActivityList = z.infer<typeof activityList>;

import * as z from 'zod/mini';
import { joined, readBillingEvent } from './event.ts';
import type { RawEvent } from './stripe-objects.ts';
import { BillingFailure, CutOff, type BillingEvidence, type StripeList } from './evidence.ts';

/** One entry of any list, as Stripe sends it. */
export const listEntry = z.looseObject({
  id: z.string().check(z.minLength(1), z.maxLength(255)),
  /** Seconds since 1970. */
  created: z.optional(z.number()),
});

/**
 * @param apiVersion whose shapes the entries are to have; null for that of Stripe's account.
 * @throws an error whose message may be logged
 */
export type FetchList = (list: StripeList, apiVersion: string | null) => Promise<z.infer<typeof listEntry>[]>;

/**
 * As `readBillingEvent`, but a list of which the event shows only the first entries is fetched (Stripe API, "Pagination").
 * An invoice's lines no longer change once it is paid or failed. A subscription's items do: of those that the event shows,
 * what it says counts, and what was added after it is left out.
 * @param fetchList null where there is no key to fetch with
 * @throws BillingFailure `not_fetched`, and those of `readBillingEvent`
 */
export async function readWholeEvent(
  event: RawEvent,
  fetchList: FetchList | null,
): Promise<BillingEvidence | null> {
  try {
    return readBillingEvent(event);
  } catch (error) {
    if (!(error instanceof CutOff) || fetchList === null) throw error;
    const { what, member } = error.list;
    const { data, api_version: version } = event;
    const apiVersion = typeof version === 'string' && /^[\w.-]{1,40}$/.test(version) ? version : null;
    const all = await fetchList(error.list, apiVersion).catch(({ message }: Error) => {
      throw new BillingFailure('not_fetched', `${what} could not be fetched: ${message}.`);
    });
    const object = data.object as Record<'lines' | 'items', { data: { id?: string }[] }>;
    const there = all.filter((one) => (one.created ?? 0) * 1000 <= event.created);
    const list = member === 'lines' ? all : joined(object.items.data, there);
    const whole = { ...object, [member]: { data: list } };
    const before = cutOffToo(data.previous_attributes);
    return readBillingEvent({ ...event, data: { object: whole, previous_attributes: before } });
  }
}

/** Of a list that is cut off, what stood in it before is cut off too. Stripe sends only what changed, so not that. */
function cutOffToo(previous: unknown): unknown {
  const { items } = (previous ?? {}) as { items?: object };
  return items ? { ...(previous as object), items: { ...items, has_more: true } } : previous;
}

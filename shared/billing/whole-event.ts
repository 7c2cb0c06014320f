import * as z from 'zod/mini';
import {
  hasMore,
  idOf,
  isRead,
  ofSubscription,
  subscriptionId,
  subscriptionOf,
  type BillingNotice,
} from './event.ts';
import { BillingFailure } from './evidence.ts';

/** A list of Stripe's API, all of which is asked for. */
export interface StripeList {
  path: string;
  query: Record<string, string>;
  /** The version of the API whose shapes the entries are to have; null for the account's own. */
  apiVersion: string | null;
}

/** One entry of any list, as Stripe tells it. */
export const listEntry = z.looseObject({
  id: z.string().check(z.minLength(1), z.maxLength(255)),
  /** Seconds since 1970. */
  created: z.optional(z.number()),
});
export type ListEntry = z.infer<typeof listEntry>;

/** @throws an error whose message may be logged */
export type FetchList = (list: StripeList) => Promise<ListEntry[]>;

const list = z.looseObject({ data: z.array(listEntry), has_more: hasMore });
const lines = z.looseObject({ has_more: hasMore });
const invoiceWithLines = z.looseObject({ ...ofSubscription, id: idOf('in'), lines });
const subscriptionWithItems = z.looseObject({ id: subscriptionId, items: list });
const before = z.looseObject({ items: list });

/**
 * The event with the whole of those lists of which it shows only the first entries (Stripe API, "Pagination"). An invoice's
 * lines no longer change once it is paid or failed. A subscription's items do: of those that the event shows, what it says
 * counts, and what was added after it is left out.
 * @param fetchList null where there is no key to fetch with. Then the event stays as it is.
 * @throws BillingFailure `not_fetched`
 */
export async function wholeEvent(event: BillingNotice, fetchList: FetchList | null): Promise<BillingNotice> {
  if (!isRead(event) || fetchList === null) return event;
  const { data, api_version: version } = event;
  const apiVersion = typeof version === 'string' && /^[\w.-]{1,40}$/.test(version) ? version : null;
  const fetchAll = (what: string, path: string, query: Record<string, string>) =>
    fetchList({ path, query, apiVersion }).catch((error: Error) => {
      throw new BillingFailure('not_fetched', `${what} could not be fetched: ${error.message}.`);
    });

  const invoice = invoiceWithLines.safeParse(data.object).data;
  if (invoice !== undefined) {
    const { id } = invoice;
    if (!invoice.lines.has_more || subscriptionOf(invoice) === undefined) return event;
    const all = await fetchAll(`The lines of invoice ${id}`, `/v1/invoices/${id}/lines`, {});
    return { ...event, data: { ...data, object: { ...invoice, lines: { data: all } } } };
  }
  const subscription = subscriptionWithItems.safeParse(data.object).data;
  if (subscription === undefined) return event;
  const { id, items } = subscription;
  const query = { subscription: id };
  const others = items.has_more
    ? await fetchAll(`The items of subscription ${id}`, '/v1/subscription_items', query)
    : [];
  const all = joined(items.data, others, event.created);
  return {
    ...event,
    data: {
      object: { ...subscription, items: { data: all } },
      previous_attributes: wholeBefore(data.previous_attributes, all, event.created),
    },
  };
}

/** What an event added was made in the moments before it. */
function wholeBefore(attributes: unknown, all: ListEntry[], atMs: number): unknown {
  const { data: previous } = before.safeParse(attributes);
  if (!previous?.items.has_more) return attributes;
  return { ...previous, items: { data: joined(previous.items.data, all, atMs - 2000) } };
}

/** The entries shown, and of the others those that were there at a moment. */
function joined(shown: ListEntry[], others: ListEntry[], atMs: number): ListEntry[] {
  const ids = new Set(shown.map(({ id }) => id));
  return [...shown, ...others.filter((one) => !ids.has(one.id) && (one.created ?? 0) * 1000 <= atMs)];
}

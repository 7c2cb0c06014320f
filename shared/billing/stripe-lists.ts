import * as z from 'zod/mini';
import { listEntry, type FetchList } from './whole-event.ts';
import { freshFetch } from '../base/fresh-fetch.ts';

/** For all pages together: a batch of ten events that each need a list is done before the function's end. */
const withinMs = 4000;
const pageSize = 100;
/** Stripe puts at most a few hundred lines on an invoice. */
const maxPages = 10;

const page = z.object({ data: z.array(listEntry), has_more: z.boolean() });
type Page = z.infer<typeof page>;

/**
 * Fetches lists from Stripe (Stripe API, "Pagination" and "Versioning").
 * @param readKey reads a key of Stripe's, which needs to read invoices and subscriptions only.
 * @returns a function that throws errors whose messages hold nothing of the key, nor of what Stripe said.
 */
export function stripeLists(stripeUrl: string, readKey: () => Promise<string>): FetchList {
  return async ({ path, query }, apiVersion) => {
    const key = (await readKey()).trim();
    if (!/^[rs]k_[A-Za-z0-9_]{8,250}$/.test(key))
      throw new Error("the secret's text is not a key of Stripe's");
    const headers = {
      authorization: `Bearer ${key}`,
      ...(apiVersion !== null && { 'stripe-version': apiVersion }),
    };
    const signal = AbortSignal.timeout(withinMs);
    const all: Page['data'] = [];
    for (let i = 0; i < maxPages; i++) {
      const after = all.at(-1)?.id;
      const parameters = { ...query, limit: String(pageSize), ...(after && { starting_after: after }) };
      const { data, has_more: hasMore } = await getPage(
        `${stripeUrl}${path}?${new URLSearchParams(parameters).toString()}`,
        headers,
        signal,
      );
      all.push(...data);
      if (!hasMore) return all;
    }
    throw new Error(`Stripe has more than ${maxPages} pages`);
  };
}

async function getPage(url: string, headers: Record<string, string>, signal: AbortSignal): Promise<Page> {
  // The key is Stripe's alone, so no redirect is followed.
  const answer = await freshFetch(url, { headers, signal, redirect: 'manual' }).catch((error: Error) => {
    const { code = error.name } = (error.cause ?? {}) as NodeJS.ErrnoException;
    throw new Error(`Stripe could not be reached (${code})`);
  });
  if (!answer.ok) {
    await answer.body?.cancel();
    throw new Error(`Stripe answered with status ${answer.status}`);
  }
  const parsed = page.safeParse(await answer.json().catch(() => null));
  if (!parsed.success) throw new Error('Stripe answered without a list, or its answer broke off');
  return parsed.data;
}

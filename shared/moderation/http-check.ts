import { createHmac } from 'node:crypto';
import * as z from 'zod/mini';
import type { Clock } from '../base/clock.ts';
import { freshFetch } from '../base/fresh-fetch.ts';
import type { AskAboutPrompt } from './prompt-check.ts';
import { readVerdict } from './read-verdict.ts';

export interface HttpCheckDeps {
  url: string;
  /** @returns `whsec_` and base64. */
  readSecret(): Promise<string>;
  clock: Pick<Clock, 'now'>;
}

const answerContract = z.object({
  allowed: z.boolean(),
  // Some languages write an empty list as null.
  categories: z.nullish(z.array(z.string())),
});

/** Asks the operator's own server, in a request that is signed as Standard Webhooks 1.0 has it. */
export function httpCheck({ url, readSecret, clock }: HttpCheckDeps): AskAboutPrompt {
  return async ({ requestId, ...asked }, withinMs) => {
    // From here on: the secret's reading counts, too.
    const signal = AbortSignal.timeout(withinMs);
    const body = JSON.stringify(asked);
    const timestamp = String(Math.floor(clock.now() / 1000));
    const key = Buffer.from((await readSecret()).trim().replace(/^whsec_/, ''), 'base64');
    const signature = createHmac('sha256', key).update(`${requestId}.${timestamp}.${body}`).digest('base64');
    const answer = await freshFetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': requestId,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${signature}`,
      },
      body,
      // The secret signs a prompt for this address alone.
      redirect: 'error',
      signal,
    });
    const { allowed, categories } = await readVerdict(answer, answerContract);
    return { allowed, categories: categories ?? [] };
  };
}

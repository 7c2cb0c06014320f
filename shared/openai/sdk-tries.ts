import { createHash } from 'node:crypto';
import type { ServiceError } from '../base/errors.ts';
import { noteRefusedTry } from '../generations/accept-try.ts';
import type { SdkTry } from '../generations/sdk-try-store.ts';
import { singleHeader, type ApiRequest } from '../http/request.ts';
import type { Table } from '../table/table.ts';
import { isRepeated, longestWaitSeconds } from './errors.ts';
import { withoutBoundaries } from './form.ts';

/**
 * Which try of a request this is, as OpenAI's SDKs say: they count from 0 in `x-stainless-retry-count` (openai-python,
 * `_base_client.py`; openai-node, `client.ts`), and send no Idempotency-Key. Who sends one has said what a repeat is. Their tries
 * are the same bytes but for a form's boundaries, so nothing is parsed for one that is refused.
 * @returns null where it does not say
 */
export function readSdkTry(request: ApiRequest): SdkTry | null {
  const count = singleHeader(request, 'x-stainless-retry-count') ?? '';
  if (!/^\d{1,3}$/.test(count) || request.headers.has('idempotency-key')) return null;
  const hash = createHash('sha256');
  const contentType = singleHeader(request, 'content-type');
  for (const piece of withoutBoundaries(request.rawBytes, contentType)) hash.update(piece);
  return { count: Number(count), digest: hash.digest('base64url') };
}

/**
 * Notes a try whose refusal asks for another one. Without the note that one would take the result of another wish for the same, as
 * in a loop that asks for twenty pictures by one prompt and meets the rate limit.
 */
export async function noteRefusal(request: ApiRequest, error: ServiceError, table: Table): Promise<void> {
  const { requestId, refusalOwner, receivedAtMs } = request;
  // Where another try runs, that one has the place.
  if (refusalOwner === null || error.code === 'IDEMPOTENCY_IN_PROGRESS' || !isRepeated(error)) return;
  const sent = readSdkTry(request);
  if (sent === null) return;
  const { retryAfterSeconds = 0 } = error;
  const waitSeconds = retryAfterSeconds <= longestWaitSeconds ? retryAfterSeconds : 0;
  const refused = { keyId: refusalOwner.caller, requestId, receivedAtMs };
  await noteRefusedTry(table, refused, sent, receivedAtMs + 1000 * waitSeconds);
}

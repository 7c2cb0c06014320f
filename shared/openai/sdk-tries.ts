import { createHash } from 'node:crypto';
import type { ServiceError } from '../base/errors.ts';
import { noteRefusedTry, type SdkTry } from '../generations/sdk-try-store.ts';
import { canonicalJson } from '../http/json.ts';
import { singleHeader, type ApiRequest } from '../http/request.ts';
import type { Table } from '../table/table.ts';
import { isRepeated } from './errors.ts';

/**
 * Which try of a request this is, as OpenAI's SDKs say: they count from 0 in `x-stainless-retry-count` (openai-python,
 * `_base_client.py`; openai-node, `client.ts`), and send no Idempotency-Key. Who sends one has said what a repeat is.
 * @param readMembers gives all that is asked for, files too; asked only where it is needed
 * @returns null where it does not say
 */
export function readSdkTry(request: ApiRequest, readMembers: () => unknown): SdkTry | null {
  const count = singleHeader(request, 'x-stainless-retry-count') ?? '';
  if (!/^\d{1,3}$/.test(count) || request.headers.has('idempotency-key')) return null;
  return {
    count: Number(count),
    digest: createHash('sha256').update(canonicalJson(readMembers())).digest('base64url'),
  };
}

/**
 * Notes a first try whose refusal asks for another one. Without the note that one would take the result of another wish for
 * the same, as in a loop that asks for twenty pictures by one prompt and meets the rate limit.
 */
export async function noteRefusal(
  request: ApiRequest,
  error: ServiceError,
  readMembers: () => unknown,
  { table, nowMs }: { table: Table; nowMs: number },
): Promise<void> {
  const { requestId, refusalOwner } = request;
  if (refusalOwner === null || !isRepeated(error)) return;
  const sent = readSdkTry(request, readMembers);
  if (sent?.count === 0)
    await noteRefusedTry(table, { keyId: refusalOwner.caller, requestId, digest: sent.digest }, nowMs);
}

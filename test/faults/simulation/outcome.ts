import { basePath } from '../../../shared/routes/api.ts';
import type { Reply } from './functions.ts';

/** What an answer says, whichever way it came. */
export interface Outcome {
  status: number;
  /** An error's code, null for a success. */
  code: string | null;
  sentence: string;
  requestId: string;
  answer: Record<string, any> | null;
}

export function readReply(reply: Reply): Outcome {
  const last =
    reply.headers['content-type'] === 'text/event-stream' ? lastEvent(reply.body) : JSON.parse(reply.body);
  const isRecord = reply.status === 202;
  const status = isRecord ? 202 : (last.status ?? (last.code === undefined ? 200 : reply.status));
  const isError = last.code !== undefined;
  return {
    status,
    code: isError ? last.code : null,
    sentence: isError ? last.error : '',
    requestId: reply.headers['x-request-id']!,
    answer: isError ? null : last,
  };
}

function lastEvent(text: string): Record<string, any> {
  const data = text.trimEnd().split('\n').at(-1)!;
  return JSON.parse(data.slice('data: '.length));
}

/** Why an answer is not that to a request that was accepted; null when it is. */
export function wrongAcceptance(
  { status, headers }: Reply,
  { answer, requestId }: Outcome,
  credits: number,
): string | null {
  const expected = { requestId, status: 'QUEUED', creditsReserved: credits };
  if (JSON.stringify(answer) !== JSON.stringify(expected)) return `${status} ${JSON.stringify(answer)}`;
  if (headers['preference-applied'] !== 'respond-async') return 'no preference was applied';
  if (headers.location !== `${basePath}/generate/${requestId}`) return `its address is ${headers.location}`;
  return Number(headers['retry-after']) > 0 ? null : 'nothing says when to look at it';
}

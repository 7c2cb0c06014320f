import { errorCodes, type ErrorCode } from '../../shared/errors.ts';
import type { ApiAnswer } from '../support/service.ts';

/** Error codes, or statuses of successes, that a call may be answered with. SERVICE_UNAVAILABLE always may. */
export type Expected = readonly (ErrorCode | number)[];

/** Server errors that the documents name. No other status from 500 on may be answered. */
const decided: readonly string[] = [
  'SERVICE_UNAVAILABLE',
  'IDENTITY_UNAVAILABLE',
  'TIMEOUT',
  'GENERATION_FAILED',
];
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export type Ledger = ReturnType<typeof openLedger>;

/** What was seen, and what of it must not be. @param document the API's own: it names the statuses of each operation */
export function openLedger(document: any) {
  /** By operation: what it was answered, and how often. */
  const outcomes: Record<string, Record<string, number>> = {};
  /** By operation. Milliseconds until the last byte. */
  const durations: Record<string, number[]> = {};
  /** The number of images of every answer 200: it must be stored as COMPLETED, with as many. */
  const delivered = new Map<string, number>();
  const violations: string[] = [];

  function count(operation: string, outcome: string): void {
    const counts = (outcomes[operation] ??= {});
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }

  function isDocumented(operation: string, status: number): boolean {
    const [method, path] = operation.split(' ') as [string, string];
    const documented = document.paths[path]?.[method.toLowerCase()];
    return documented === undefined || String(status) in documented.responses;
  }

  return {
    outcomes,
    durations,
    delivered,
    violations,
    violate: (sentence: string) => void violations.push(sentence),
    count,
    judge(operation: string, answer: ApiAnswer, durationMs: number, expected: Expected): void {
      const { status, body } = answer;
      count(operation, status < 400 ? String(status) : `${status} ${body.code}`);
      (durations[operation] ??= []).push(durationMs);
      const wrong = wrongAnswer(answer, expected);
      if (wrong !== null) violations.push(`${operation}: ${wrong}`);
      if (!isDocumented(operation, status))
        violations.push(`${operation}: ${status} is not in the document.`);
    },
    /** The same for the last event of a stream. */
    judgeEnd(operation: string, event: string, data: any, expected: Expected): void {
      const isDone = event === 'completed';
      count(`${operation} as events`, isDone ? 'completed' : `${event} ${data?.status} ${data?.code}`);
      const wrong = isDone ? null : wrongCode(data?.code, data?.status, expected);
      if (wrong !== null || !['completed', 'failed'].includes(event))
        violations.push(`${operation}: a stream ended with ${event}, ${wrong ?? 'which is no end'}`);
    },
    deliver(requestId: string, images: number): void {
      const known = delivered.get(requestId) ?? images;
      if (known !== images) violations.push(`${requestId} had ${known} images, and ${images} when repeated.`);
      delivered.set(requestId, images);
    },
  };
}

/** What is wrong with an answer by itself, as a sentence. */
function wrongAnswer({ status, headers, body }: ApiAnswer, expected: Expected): string | null {
  if (!uuid.test(headers.get('x-request-id') ?? '')) return `${status} without an X-Request-Id.`;
  if (status < 400) return expected.includes(status) ? null : `${status} was not expected.`;
  const members = Object.keys(body).toSorted().join();
  if (members !== 'code,error') return `${status} with a body of ${members || 'nothing'}.`;
  const wrong = wrongCode(body.code, status, expected);
  if (wrong !== null) return wrong;
  const mayBeTriedAgain = [429, 503].includes(status);
  if (mayBeTriedAgain && !/^[1-9]\d*$/.test(headers.get('retry-after') ?? ''))
    return `${status} without Retry-After.`;
  return null;
}

function wrongCode(code: ErrorCode, status: number, expected: Expected): string | null {
  if (errorCodes[code]?.status !== status) return `${status} ${code} do not belong together.`;
  if (status >= 500 && !decided.includes(code)) return `${status} ${code} was never decided.`;
  return [...expected, 'SERVICE_UNAVAILABLE'].includes(code) ? null : `${status} ${code} was not expected.`;
}

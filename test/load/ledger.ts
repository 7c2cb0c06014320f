import { errorCodes, type ErrorCode } from '../../shared/errors.ts';
import type { Answer, Reply } from './client.ts';

/** What an operation may be answered with: by the document, `GET /openapi.json`. */
type Documented = Record<string, Set<string>>;

/** Faults that were decided: whoever meets one reads the documents. No other status from 500 on may be answered. */
const decided: readonly string[] = [
  'SERVICE_UNAVAILABLE',
  'IDENTITY_UNAVAILABLE',
  'TIMEOUT',
  'GENERATION_FAILED',
];
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const maxTold = 50;

/** What was seen. Nothing in it grows but counts, durations, and what is looked up in the end. */
export interface Ledger {
  /** By operation: what it was answered, and how often. */
  outcomes: Record<string, Record<string, number>>;
  /** By operation. Milliseconds until the last byte. */
  durations: Record<string, number[]>;
  /** Of every answer 200: it must be stored as COMPLETED, with so many images. */
  delivered: Map<string, number>;
  violations: string[];
  violationCount: number;
  violate(sentence: string): void;
  /**
   * Counts a reply and judges it.
   * @param expected error codes, or statuses of successes, that this call may be answered with; SERVICE_UNAVAILABLE
   * may always be.
   * @returns the answer, null when there is none.
   */
  judge(operation: string, reply: Reply, expected: readonly (ErrorCode | number)[]): Answer | null;
  /** The same for the end of an event stream. */
  judgeEnd(operation: string, event: string, data: any, expected: readonly (ErrorCode | number)[]): void;
  deliver(requestId: string, images: number): void;
}

export function openLedger(documented: Documented): Ledger {
  const ledger: Ledger = {
    outcomes: {},
    durations: {},
    delivered: new Map(),
    violations: [],
    violationCount: 0,
    violate(sentence) {
      ledger.violationCount += 1;
      if (ledger.violations.length < maxTold) ledger.violations.push(sentence);
    },
    judge(operation, reply, expected) {
      if (reply.kind === 'hung_up') return count(operation, 'hung up');
      if (reply.kind === 'none') {
        ledger.violate(`${operation}: no answer (${reply.why}).`);
        return count(operation, 'no answer');
      }
      const { answer } = reply;
      count(operation, answer.status < 400 ? String(answer.status) : `${answer.status} ${answer.body?.code}`);
      (ledger.durations[operation] ??= []).push(answer.durationMs);
      const wrong = wrongAnswer(answer, expected) ?? undocumented(operation, answer.status);
      if (wrong !== null) ledger.violate(`${operation}: ${wrong}`);
      return answer;
    },
    judgeEnd(operation, event, data, expected) {
      const isDone = event === 'completed';
      count(`${operation} as events`, isDone ? 'completed' : `${event} ${data?.status} ${data?.code}`);
      const wrong = isDone ? null : wrongCode(data?.code, data?.status, expected);
      if (wrong !== null || !['completed', 'failed'].includes(event)) {
        ledger.violate(`${operation}: a stream ended with ${event}, ${wrong ?? 'which is no end'}`);
      }
    },
    deliver(requestId, images) {
      const known = ledger.delivered.get(requestId) ?? images;
      if (known !== images) ledger.violate(`${requestId} had ${known} images, and ${images} when repeated.`);
      ledger.delivered.set(requestId, images);
    },
  };

  function count(operation: string, outcome: string): null {
    const outcomes = (ledger.outcomes[operation] ??= {});
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
    return null;
  }

  function undocumented(operation: string, status: number): string | null {
    const statuses = documented[operation];
    return statuses === undefined || statuses.has(String(status))
      ? null
      : `${status} is not in the document.`;
  }
  return ledger;
}

/** What is wrong with an answer by itself, as a sentence. */
function wrongAnswer({ status, headers, body }: Answer, expected: readonly (ErrorCode | number)[]) {
  if (!uuid.test(String(headers['x-request-id'] ?? '')) && expected.every((one) => one !== 204))
    return `${status} without an X-Request-Id.`;
  if (status < 400) return expected.includes(status) ? null : `${status} was not expected.`;
  const members = Object.keys(body ?? {})
    .toSorted()
    .join();
  if (members !== 'code,error') return `${status} with a body of ${members || 'nothing'}.`;
  const wrong = wrongCode(body.code, status, expected);
  if (wrong !== null) return wrong;
  const mayBeTriedAgain = [429, 503].includes(status);
  if (mayBeTriedAgain && !/^[1-9]\d*$/.test(String(headers['retry-after'])))
    return `${status} without Retry-After.`;
  return null;
}

function wrongCode(code: ErrorCode, status: number, expected: readonly (ErrorCode | number)[]) {
  if (errorCodes[code]?.status !== status) return `${status} ${code} do not belong together.`;
  if (status >= 500 && !decided.includes(code)) return `${status} ${code} was never decided.`;
  return [...expected, 'SERVICE_UNAVAILABLE'].includes(code) ? null : `${status} ${code} was not expected.`;
}

/** The statuses of each operation in the API's document. */
export function documentedStatuses(document: any): Documented {
  const documented: Documented = {};
  for (const [path, methods] of Object.entries<any>(document.paths)) {
    for (const [method, { responses }] of Object.entries<any>(methods)) {
      if (responses) documented[`${method.toUpperCase()} ${path}`] = new Set(Object.keys(responses));
    }
  }
  return documented;
}

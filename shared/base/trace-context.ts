/**
 * Who calls may say by the header `traceparent` which trace its request is part of (W3C Trace Context Level 2, section 3.2).
 * It is passed on, to logs, answers and the model server, and decides nothing.
 */
const shape = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const allZero = /^0+$/;
/** `sampled` and `random-trace-id`. No other flag has a meaning yet, and an unknown one is passed on as 0. */
const knownFlags = 0b11;

/**
 * Reads the header as every version of it begins. Later versions may be longer: what is passed on is of version 00.
 * @returns 55 characters; null for what must be ignored.
 */
export function readTraceparent(header: string | undefined): string | null {
  const [, version, traceId, parentId, flags, more] = shape.exec(header ?? '') ?? [];
  if (traceId === undefined || parentId === undefined || version === 'ff') return null;
  if (allZero.test(traceId) || allZero.test(parentId) || (version === '00' && more !== undefined))
    return null;
  return `00-${traceId}-${parentId}-0${Number.parseInt(flags!, 16) & knownFlags}`;
}

/** What lines of the log say of it. It is no dimension of a metric: there are as many traces as requests. */
export function traceFields(traceparent: string | null | undefined): { traceId?: string } {
  return traceparent ? { traceId: traceparent.slice(3, 35) } : {};
}

import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import {
  admit,
  afterCall,
  afterProbe,
  closedBreaker,
  maxFailuresInARow,
  probeMs,
  type Admission,
  type Breaker,
  type Finding,
} from '../../../shared/model/breaker-states.ts';

const finding = fc.constantFrom<Finding>('healthy', 'failing', 'warming');

/** The events of a breaker's life, each some time after the one before. */
const history = fc.array(
  fc.record({
    afterMs: fc.nat({ max: 20_000 }),
    what: fc.constantFrom('ask', 'call ended', 'probe ended'),
    finding,
  }),
  { maxLength: 60 },
);

type Moment = ReturnType<typeof live>[number];

/** Every moment of a history. */
function live(events: { afterMs: number; what: string; finding: Finding }[]) {
  let breaker = closedBreaker;
  let nowMs = 1_000_000;
  return events.map((event) => {
    nowMs += event.afterMs;
    const before = breaker;
    let admission: Admission | null = null;
    if (event.what === 'ask') ({ breaker, admission } = admit(breaker, nowMs));
    else if (event.what === 'call ended') breaker = afterCall(breaker, event.finding, nowMs);
    else breaker = afterProbe(breaker, event.finding, nowMs);
    return { ...event, breaker, before, nowMs, admission };
  });
}

function everyMoment(holds: (moment: Moment, index: number, all: Moment[]) => void): void {
  fc.assert(
    fc.property(history, (events) => live(events).forEach(holds)),
    { numRuns: 500 },
  );
}

const failTimes = (times: number, nowMs: number): Breaker =>
  Array.from({ length: times }).reduce<Breaker>(
    (breaker) => afterCall(breaker, 'failing', nowMs),
    closedBreaker,
  );

describe('whatever happens', () => {
  test('nobody is let through while it is open, and everybody while it is not', () => {
    everyMoment(({ before, admission }) => {
      if (admission !== null) expect(admission.kind === 'call').toBe(before.state !== 'open');
    });
  });

  test('who must wait learns of whole seconds, at least one, after which a probe is allowed', () => {
    everyMoment(({ breaker, nowMs, admission }) => {
      if (admission?.kind !== 'wait') return;
      expect(admission.seconds).toBeGreaterThanOrEqual(1);
      expect(Number.isInteger(admission.seconds)).toBe(true);
      expect(admit(breaker, nowMs + admission.seconds * 1000).admission.kind).toBe('probe');
      // And not much longer than needed.
      expect(admit(breaker, nowMs + (admission.seconds - 1) * 1000).admission.kind).toBe('wait');
    });
  });

  test('one probe at a time: the next comes after its answer or once it must be lost', () => {
    everyMoment((moment, i, all) => {
      if (moment.admission?.kind !== 'probe') return;
      const next = all.slice(i + 1).find(({ admission }) => admission?.kind === 'probe');
      const between = all.slice(i + 1, next === undefined ? undefined : all.indexOf(next));
      const ended = between.some(({ what }) => what !== 'ask');
      if (next && !ended) expect(next.nowMs - moment.nowMs).toBeGreaterThanOrEqual(probeMs);
    });
  });

  test('a healthy call closes it, and no capacity opens it at once, for as long as a start takes', () => {
    everyMoment(({ what, finding: found, breaker, nowMs }) => {
      if (what !== 'call ended') return;
      if (found === 'healthy') expect(breaker).toEqual(closedBreaker);
      if (found === 'warming')
        expect(breaker).toEqual({ state: 'open', reason: 'warming', untilMs: nowMs + 5000 });
    });
  });

  test('only a probe that is answered opens it halfway, and only a call closes it', () => {
    everyMoment(({ what, finding: found, before, breaker }) => {
      if (breaker.state !== before.state && breaker.state === 'half_open')
        expect([before.state, what, found]).toEqual(['open', 'probe ended', 'healthy']);
      if (breaker.state !== before.state && breaker.state === 'closed')
        expect([what, found]).toEqual(['call ended', 'healthy']);
    });
  });

  test('failures open it only five in a row, or one after a probe', () => {
    everyMoment(({ what, finding: found, before, breaker }, i, all) => {
      if (breaker.state !== 'open' || before.state === 'open' || found !== 'failing') return;
      expect(what).toBe('call ended');
      if (before.state === 'half_open') return;
      const calls = all.slice(0, i + 1).filter((moment) => moment.what === 'call ended');
      expect(calls.slice(-maxFailuresInARow).map((call) => call.finding)).toEqual(Array(5).fill('failing'));
    });
  });
});

test('four failures leave it closed, the fifth opens it for ten seconds', () => {
  expect(admit(failTimes(4, 0), 0).admission).toEqual({ kind: 'call' });
  const open = failTimes(5, 0);
  expect(open).toEqual({ state: 'open', reason: 'failing', untilMs: 10_000 });
  // Calls that fail late do not keep it open for longer.
  expect(afterCall(open, 'failing', 9000)).toEqual(open);
  expect(admit(open, 0).admission).toEqual({ kind: 'wait', reason: 'failing', seconds: 10 });
  expect(admit(open, 9001).admission).toEqual({ kind: 'wait', reason: 'failing', seconds: 1 });
  expect(admit(open, 10_000).admission).toEqual({ kind: 'probe' });
});

test('a probe that fails opens it again for its own reason', () => {
  const { breaker } = admit(failTimes(5, 0), 10_000);
  expect(admit(breaker, 10_001).admission).toEqual({ kind: 'wait', reason: 'failing', seconds: 5 });
  expect(afterProbe(breaker, 'failing', 13_000)).toMatchObject({ reason: 'failing', untilMs: 23_000 });
  expect(afterProbe(breaker, 'warming', 13_000)).toMatchObject({ reason: 'warming', untilMs: 18_000 });
});

test('after a probe that is answered one failure opens it, where it took five before', () => {
  const halfOpen = afterProbe(failTimes(5, 0), 'healthy', 10_000);
  expect(admit(halfOpen, 10_000).admission).toEqual({ kind: 'call' });
  expect(afterCall(halfOpen, 'failing', 11_000)).toMatchObject({ state: 'open', untilMs: 21_000 });
  expect(afterCall(halfOpen, 'healthy', 11_000)).toEqual(closedBreaker);
});

import type { ModelEvent } from './contract.ts';
import type { Place } from './line.ts';

const HEARTBEAT_MS = 3_000;

/** The events that the caller of one request gets until it ends. */
export interface Reports {
  /** Tells a place in the line, the first one and each that is better than all before. */
  wait(place: Place): void;
  /** Tells that its painting begins. */
  begin(): void;
  /** Tells a step if it is further than all before. */
  reach(step: number): void;
  end(): void;
}

/**
 * Tells the caller how a request proceeds, and repeats the last report every few seconds, so that there is no silence.
 * @param placeNow the place in the line at this time, if there is one
 */
export function createReports(
  steps: number,
  emit: (event: ModelEvent) => void,
  placeNow: () => Place | undefined,
): Reports {
  let begun = false;
  let best = Infinity;
  let furthest = 0;
  const tellPlace = (place: Place): void => {
    best = Math.min(best, place.position);
    emit({ event: 'queued', ...place });
  };
  const tellStep = (): void => emit({ event: 'progress', step: furthest, steps });
  const heartbeat = setInterval(() => {
    if (begun) return tellStep();
    const place = placeNow();
    if (place !== undefined) tellPlace(place);
  }, HEARTBEAT_MS);
  return {
    wait: (place) => {
      if (!begun && place.position < best) tellPlace(place);
    },
    begin: () => {
      if (!begun) emit({ event: 'started' });
      begun = true;
    },
    reach: (step) => {
      if (step <= furthest || step > steps) return;
      furthest = step;
      tellStep();
    },
    end: () => clearInterval(heartbeat),
  };
}

import { formatDuration, formatNumber } from '../../lib/format.ts';

/** A request's place among those that wait for the model. */
export interface Place {
  /** 1 is the next to begin. */
  position: number;
  /** 0 while nobody knows. */
  etaSeconds: number;
}

/** `Waiting: 3 before you, about 12 s`. */
export function waitingText(place: Place): string {
  if (place.etaSeconds === 0) return `Waiting: ${aheadText(place)}`;
  return `Waiting: ${aheadText(place)}, about ${formatDuration(place.etaSeconds * 1000)}`;
}

/** `3 before you`. */
export function aheadText({ position }: Place): string {
  return position === 1 ? 'you are next' : `${formatNumber(position - 1)} before you`;
}

import { seededRandom, type Random } from '../../faults/simulation/random.ts';

/** A model that sleeps, played moment by moment: what the formulas of bin/costs/sleep.ts are compared with. */

export interface Played {
  asleepHours: number;
  leavingHours: number;
  wakingHours: number;
  idleHours: number;
  paintHours: number;
  sittings: number;
  /** Sittings whose first image found it so. */
  foundAsleep: number;
  foundWaking: number;
}

export interface Play {
  hours: number;
  /** Sittings an hour, at a time in hours since Monday, 0:00. */
  rate: (atHours: number) => number;
  /** No rate is higher. */
  highestRate: number;
  imagesPerSitting: number;
  paintHours: number;
  pauseHours: number;
  idleHours: number;
  wakingHours: number;
  leavingHours: number;
  seed: number;
}

interface Ask {
  at: number;
  /** Images of its sitting, this one included. */
  left: number;
  isFirst: boolean;
}

/** One instance that paints one image after another, and people who ask for the next one after they have seen one. */
export function play(of: Play): Played {
  const random = seededRandom(of.seed);
  const sittings = sittingStarts(of, random);
  const played = { asleepHours: 0, leavingHours: 0, wakingHours: 0, idleHours: 0, paintHours: 0 };
  const found = { sittings: 0, foundAsleep: 0, foundWaking: 0 };
  const later: Ask[] = [];
  // It sleeps at first.
  let [freeAt, awakeAt] = [-of.idleHours, -of.idleHours];
  let next = sittings.next();
  while (next.done !== true || later.length > 0) {
    let ask: Ask;
    if (next.done !== true && (later.length === 0 || next.value < later[0]!.at)) {
      ask = { at: next.value, left: of.imagesPerSitting, isFirst: true };
      next = sittings.next();
    } else ask = later.shift()!;
    if (ask.isFirst) found.sittings += 1;
    const asleepAt = freeAt + of.idleHours;
    if (ask.at >= asleepAt) {
      if (ask.isFirst) found.foundAsleep += 1;
      const left = Math.min(ask.at - asleepAt, of.leavingHours);
      played.leavingHours += left;
      played.asleepHours += ask.at - asleepAt - left;
      played.idleHours += asleepAt - Math.max(freeAt, 0);
      played.wakingHours += of.wakingHours;
      awakeAt = freeAt = ask.at + of.wakingHours;
    } else if (ask.at < awakeAt && ask.isFirst) found.foundWaking += 1;
    played.idleHours += Math.max(0, ask.at - freeAt);
    freeAt = Math.max(freeAt, ask.at) + of.paintHours;
    played.paintHours += of.paintHours;
    if (ask.left > 1) addInOrder(later, { at: freeAt + of.pauseHours, left: ask.left - 1, isFirst: false });
  }
  return { ...played, ...found };
}

function* sittingStarts({ hours, rate, highestRate }: Play, random: Random): Generator<number, void> {
  for (let at = 0; ;) {
    at -= Math.log(1 - random.float()) / highestRate;
    if (at >= hours) return;
    // Of a process that is too busy, as many are kept as the rate of that moment says.
    if (random.chance(rate(at) / highestRate)) yield at;
  }
}

function addInOrder(asks: Ask[], ask: Ask): void {
  const index = asks.findIndex(({ at }) => at > ask.at);
  asks.splice(index === -1 ? asks.length : index, 0, ask);
}

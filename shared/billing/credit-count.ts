import { isDeepStrictEqual } from 'node:util';
import type { Proration, SubscriptionItem } from './evidence.ts';
import {
  billingPeriod,
  isPeriodStart,
  monthAfter,
  periodsBetween,
  periodStartFrom,
} from '../licenses/billing-period.ts';

/** What a subscription says of its credits at one moment: when its periods begin, and what it consists of. */
export interface Terms {
  anchorMs: number;
  items: SubscriptionItem[];
}

/** Something that decides a count of credits, at the moment from which it holds. */
export type Moment =
  /** The subscription's terms changed. */
  | { kind: 'terms'; atMs: number; eventId: string; terms: Terms; before: Terms }
  /** A change was billed, or given back, for what was left of a period. */
  | { kind: 'prorated'; atMs: number; eventId: string; prorations: Proration[] }
  /** A whole period that begins now is paid. `givesBack`: the same invoice gives back time after this moment. */
  | { kind: 'paid'; atMs: number; eventId: string; givesBack: boolean; isFree: boolean; items: Items }
  /** Stands for all earlier moments, where there were too many to remember. */
  | { kind: 'count'; atMs: number; eventId: string; count: CreditCount };

type Of<Kind extends Moment['kind']> = Extract<Moment, { kind: Kind }>;
type Items = SubscriptionItem[];

/** The credits that are counted together, in items, because the prices are not known here. */
export interface CreditCount {
  startMs: number;
  /** The next count does not begin before this moment. */
  untilMs: number;
  /** In force at its latest moment. */
  terms: Terms;
  /** Of these the one with the fewest credits is what the count began with. */
  base: Items[];
  /** Of these, together with all of `prorated`, the one with the fewest credits is what is paid for a month. */
  paid: Items[];
  /** Billed, or given back, for parts of a month. */
  prorated: { priceId: string; quantity: number; months: number }[];
  /** Whole months that were paid within the count, which went on because time was given back for them. */
  again: Items[];
  /** Everything that the subscription consisted of during the count. */
  held: Items[];
}

/** The subscription's last known state. */
interface LastState {
  atMs: number;
  createdAtMs: number;
  terms: Terms;
}

/** What all moments together say, also those after the present one. */
interface Known {
  createdAtMs: number;
  changes: { atMs: number; before: Terms; terms: Terms }[];
  payments: Of<'paid'>[];
  /** A count stands for the moments until then. What comes to be known of that time comes too late. */
  settledMs: number;
}

/** The count in force at the latest moment. The moments are sorted. */
export function countAfter(moments: Moment[], last: LastState): CreditCount {
  const count = countAt(moments.length, moments, last);
  return isDeepStrictEqual(count.terms, last.terms) ? count : changed(count, last.atMs, last.terms);
}

/** The count in force after the first `length` moments. What the others say of their payments is known. */
export function countAt(length: number, moments: Moment[], { createdAtMs, ...last }: LastState): CreditCount {
  const first = moments.find(isOf('terms'))?.before ?? last.terms;
  const known: Known = {
    createdAtMs,
    changes: [...moments.filter(isOf('terms')), { ...last, before: last.terms }],
    payments: moments.filter(isOf('paid')),
    settledMs: moments.find(isOf('count'))?.atMs ?? 0,
  };
  return moments.slice(0, length).reduce(
    (count, moment) => {
      if (moment.kind === 'count') return moment.count;
      if (moment.kind === 'terms') return changed(count, moment.atMs, moment.terms);
      return moment.kind === 'paid' ? paid(count, moment, known) : prorated(count, moment, known);
    },
    opened(createdAtMs, first, [first.items]),
  );
}

/** When the count ends if nothing else happens: a month after its start, or later where the anchor moved. */
export function endOf({ untilMs, terms }: CreditCount): number {
  return periodStartFrom(terms.anchorMs, untilMs);
}

/**
 * What the month after a count may consist of, if its invoice is paid: what was paid before together with what was added
 * since, or the items of now. The one with the fewest credits counts.
 */
export function paidAfter({ terms: { items }, paid: before, prorated: parts }: CreditCount): Items[] {
  return distinct([...before.map((list) => together([...list, ...parts])), items]);
}

/** How many credits there are in a count. @param creditsOf the credits of items, and of one price. */
export function creditsIn(
  { base, prorated: parts, again, held }: CreditCount,
  creditsOf: { items(items: Items): number; price(priceId: string): number },
): number {
  const all = (lists: Items[]) => lists.map(creditsOf.items);
  const ofParts = parts.map(({ priceId, quantity, months }) => creditsOf.price(priceId) * quantity * months);
  const credits = Math.min(...all(base)) + sum(ofParts) + sum(all(again));
  const most = Math.max(...all(held)) * (1 + again.length);
  // A little more than nothing, because sums of fractions are not exact.
  return Math.max(0, Math.floor(Math.min(credits, most) + 1e-6));
}

function opened(startMs: number, terms: Terms, of: Items[]): CreditCount {
  return {
    startMs,
    untilMs: monthAfter(startMs),
    terms,
    base: of,
    paid: of,
    prorated: [],
    again: [],
    held: [terms.items],
  };
}

/** The count at a later moment: a new one by calculation, where a period has begun since. */
function advanced(count: CreditCount, atMs: number): CreditCount {
  if (atMs < endOf(count)) return count;
  return opened(billingPeriod(count.terms.anchorMs, atMs).startMs, count.terms, paidAfter(count));
}

function changed(before: CreditCount, atMs: number, terms: Terms): CreditCount {
  const count = advanced(before, atMs);
  // A moved anchor begins no new count at the moment of its move: the count goes on until the period after it.
  const untilMs = Math.max(count.untilMs, atMs + 1);
  // A change that was planned for the end of a period holds for the whole of the next one.
  const begins = count !== before && count.startMs === atMs;
  const base = begins ? paidAfter({ ...before, terms }) : count.base;
  return { ...count, untilMs, terms, base, held: distinct([...count.held, terms.items]) };
}

function prorated(
  before: CreditCount,
  { atMs, eventId, prorations }: Of<'prorated'>,
  known: Known,
): CreditCount {
  const count = advanced(before, atMs);
  if (atMs < count.startMs || isUndecided(count, atMs, known)) return before;
  const parts = prorations.flatMap(({ priceId, quantity, startMs, endMs }) => {
    const { anchorMs } = count.terms;
    // Of a period whose anchor is not known, or not monthly: what changes there shows in the next whole month.
    if (priceId === null || !isPeriodStart(anchorMs, endMs)) return [];
    return [{ priceId, quantity, months: periodsBetween(anchorMs, startMs, Math.min(endMs, endOf(count))) }];
  });
  // A new subscription's first period may be shorter than a month. Then nothing but its part was bought.
  const isFirst = atMs === known.createdAtMs && prorations.every(({ quantity }) => quantity >= 0);
  const paysWhole = known.payments.some((payment) => payment.eventId === eventId);
  return {
    ...count,
    prorated: [...count.prorated, ...parts],
    base: isFirst ? [[]] : count.base,
    paid: paysWhole ? count.paid.map((list) => without(list, parts)) : count.paid,
  };
}

/** A paid period begins a new count. If time was given back for it, the count goes on, and the month is added to it. */
function paid(before: CreditCount, payment: Of<'paid'>, known: Known): CreditCount {
  const { atMs, givesBack, isFree } = payment;
  const count = advanced(before, atMs);
  const ofPeriod = ({ anchorMs }: Terms) => isPeriodStart(anchorMs, atMs);
  const changes = known.changes.filter((change) => change.atMs === atMs);
  const now = [count.terms, ...changes.map((change) => change.terms)].filter(ofPeriod);
  // The payment may come before the change that it pays for.
  const later = known.changes
    .filter((change) => change.atMs >= atMs)
    .flatMap((change) => [change.before, change.terms])
    .filter(ofPeriod);
  // Whoever moves the anchor of a trial, or of a plan for nothing, pays nothing for it, be it in the second in which a period begins.
  const isMove = known.changes.some(
    (each) => each.atMs === atMs && each.before.anchorMs !== each.terms.anchorMs,
  );
  if (atMs < count.startMs || (isFree && (isMove || atMs > count.startMs))) return before;
  // A period of no known anchor, or of a week, begins no count. What it pays for counts from the next one on.
  if (now.length + later.length === 0) return { ...count, paid: [count.terms.items] };
  // An event of an earlier version did not say.
  const items = itemsPaid(payment.items ?? [], now, later);
  const held = (list: Items[]) => distinct([...list, items]);
  if (!givesBack || atMs === count.startMs) {
    return { ...opened(atMs, count.terms, [items]), held: held([count.terms.items]) };
  }
  if (isUndecided(count, atMs, known)) return count;
  return {
    ...count,
    paid: [without(items, count.prorated)],
    again: [...count.again, items],
    held: held(count.held),
  };
}

/**
 * What a subscription consisted of when a period was billed: what it has now, or had after a change of the same second, or
 * after one that came to be known later. Metered prices, and those of another interval, are not among what is billed.
 */
function itemsPaid(billed: Items, now: Terms[], later: Terms[]): Items {
  const just = ({ items }: Terms) => isDeepStrictEqual(items, billed);
  const having =
    (suits: (units: number, ofBilled: number) => boolean) =>
    ({ items }: Terms) =>
      billed.every(({ priceId, quantity }) => suits(unitsOf(priceId, items), quantity));
  const sameUnits = having((units, ofBilled) => units === ofBilled);
  const samePrices = having((units) => units > 0);
  const fitting =
    now.find(just) ??
    now.findLast(sameUnits) ??
    later.find(just) ??
    later.findLast(sameUnits) ??
    now.findLast(samePrices) ??
    later.findLast(samePrices);
  return fitting?.items ?? billed;
}

/**
 * Whether a period began within the count, until a moment, whose payment is not known. Once it is known, a new count
 * begins there. What was bought since belongs to that one, so it waits: otherwise its credits could be used in both.
 */
function isUndecided({ startMs, terms }: CreditCount, atMs: number, known: Known): boolean {
  const former = known.changes.filter((change) => change.atMs <= atMs);
  const anchors = [
    ...former.map((change) => ({ untilMs: change.atMs, anchorMs: change.before.anchorMs })),
    { untilMs: atMs, anchorMs: terms.anchorMs },
  ];
  return anchors.some(({ anchorMs, untilMs }) => {
    const period = billingPeriod(anchorMs, untilMs);
    // A period before its anchor is one of calculation only: nobody pays for it.
    const canBePaid = period.startMs > Math.max(startMs, known.settledMs) && period.startMs >= anchorMs;
    return canBePaid && !known.payments.some((payment) => payment.atMs === period.startMs);
  });
}

function isOf<Kind extends Moment['kind']>(kind: Kind) {
  return (moment: Moment): moment is Of<Kind> => moment.kind === kind;
}

/** Items for the next month to which these parts of a month add nothing. */
function without(items: Items, parts: SubscriptionItem[]): Items {
  return [...items, ...parts.map(({ priceId, quantity }) => ({ priceId, quantity: -quantity }))];
}

/** Without what was given back. */
function together(parts: SubscriptionItem[]): Items {
  const priceIds = [...new Set(parts.map(({ priceId }) => priceId))].sort();
  return priceIds
    .map((priceId) => ({ priceId, quantity: unitsOf(priceId, parts) }))
    .filter(({ quantity }) => quantity > 0);
}

function unitsOf(priceId: string, items: Items): number {
  return sum(items.filter((item) => item.priceId === priceId).map(({ quantity }) => quantity));
}

function distinct(lists: Items[]): Items[] {
  return lists.filter((list, i) => lists.findIndex((other) => isDeepStrictEqual(other, list)) === i);
}

function sum(numbers: number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

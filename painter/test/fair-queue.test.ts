import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { FairQueue } from '../src/fair-queue.ts';

interface Item {
  tenant: string;
  cost: number;
  id: number;
}

const always = (): boolean => true;
const queueOf = (...items: [tenant: string, cost: number][]): FairQueue<Item> => {
  const queue = new FairQueue<Item>();
  items.forEach(([tenant, cost], id) => queue.join({ tenant, cost, id }));
  return queue;
};
function take(queue: FairQueue<Item>, isReady: (item: Item) => boolean): Item | undefined {
  const item = queue.next(isReady);
  if (item !== undefined) queue.begin(item);
  return item;
}
function takeAll(queue: FairQueue<Item>, isReady: (item: Item) => boolean = always): number[] {
  const ids: number[] = [];
  for (let item = take(queue, isReady); item; item = take(queue, isReady)) ids.push(item.id);
  return ids;
}

describe('turns', () => {
  test('are taken by cost, within a tenant and at equal tags by arrival', () => {
    const queue = queueOf(['a', 4], ['a', 1], ['b', 1], ['b', 1], ['b', 1], ['c', 3]);
    const order = queue.order().map(({ id }) => id);

    expect(order).toEqual([0, 2, 5, 3, 4, 1]);
    expect(takeAll(queue)).toEqual(order);
  });

  test('pass over who is not ready, who then begins as soon as it is', () => {
    const queue = queueOf(['a', 1], ['a', 1], ['b', 5], ['b', 1]);

    expect(take(queue, ({ id }) => id > 0)!.id).toBe(1);
    expect(take(queue, ({ id }) => id > 0)!.id).toBe(2);
    expect(takeAll(queue)).toEqual([0, 3]);
  });

  test('that a tenant gives up cost it nothing', () => {
    const items: Item[] = [
      { tenant: 'a', cost: 1, id: 0 },
      { tenant: 'a', cost: 50, id: 1 },
      { tenant: 'a', cost: 1, id: 2 },
      { tenant: 'b', cost: 2, id: 3 },
      { tenant: 'b', cost: 2, id: 4 },
    ];
    const queue = new FairQueue<Item>();
    for (const item of items) queue.join(item);
    expect(queue.leave(items[1]!)).toBe(true);
    expect(queue.leave(items[1]!)).toBe(false);

    expect(takeAll(queue)).toEqual([0, 3, 2, 4]);
  });
});

test('the heaviest tenant loses its last place, and a newcomer that is as heavy its own', () => {
  const queue = queueOf(['a', 1], ['b', 1], ['a', 1], ['c', 1], ['b', 1]);

  expect(queue.lastOfHeaviest('c')!.id).toBe(2);
  expect(queue.lastOfHeaviest('a')!.id).toBe(4);
  queue.join({ tenant: 'a', cost: 1, id: 5 });
  expect(queue.lastOfHeaviest('a')!.id).toBe(5);
});

const tenant = fc.constantFrom('a', 'b', 'c', 'd');
/** A request that comes, or a thread that comes free. */
const arrival = fc.record({ tenant, cost: fc.integer({ min: 1, max: 64 }) });
const story = fc.array(fc.oneof({ arbitrary: arrival, weight: 3 }, fc.constant('take' as const)), {
  maxLength: 120,
});

/** Plays a story and says, after each take, who waits and how much each tenant was given until then. */
function play(events: (Omit<Item, 'id'> | 'take')[]) {
  const queue = new FairQueue<Item>();
  const given: Record<string, number> = { a: 0, b: 0, c: 0, d: 0 };
  const moments = [{ waiting: new Set<string>(), given: { ...given } }];
  let id = 0;
  for (const event of events) {
    if (event === 'take') {
      const item = take(queue, always);
      if (item !== undefined) given[item.tenant]! += item.cost;
    } else queue.join({ ...event, id: (id += 1) });
    moments.push({ waiting: new Set(queue.order().map((item) => item.tenant)), given: { ...given } });
  }
  return { queue, moments };
}

test('two tenants that both wait all the time are given the same, but for one request of each', () => {
  fc.assert(
    fc.property(story, (events) => {
      const largest = (name: string): number =>
        Math.max(0, ...events.map((event) => (event !== 'take' && event.tenant === name ? event.cost : 0)));
      const bound = largest('a') + largest('b');
      const { moments } = play(events);
      for (let from = 0; from < moments.length; from += 1) {
        for (let to = from; to < moments.length; to += 1) {
          const { waiting, given } = moments[to]!;
          if (!waiting.has('a') || !waiting.has('b')) break;
          const before = moments[from]!.given;
          const [a, b] = [given.a! - before.a!, given.b! - before.b!];
          expect(Math.abs(a - b)).toBeLessThanOrEqual(bound);
        }
      }
    }),
  );
});

test('everybody who waits begins, each tenant’s requests in their order, and nobody is remembered', () => {
  fc.assert(
    fc.property(story, (events) => {
      const { queue } = play(events);
      const order = queue.order();
      for (const name of ['a', 'b', 'c', 'd']) {
        const ids = order.filter((item) => item.tenant === name).map(({ id }) => id);
        expect(ids).toEqual(ids.toSorted((x, y) => x - y));
      }
      expect(takeAll(queue)).toEqual(order.map(({ id }) => id));
      expect(queue.length).toBe(0);
      queue.reset();
      expect(queue.tenants).toBe(0);
    }),
  );
});

test('a tenant is forgotten when the others have caught up with it', () => {
  const queue = new FairQueue<Item>();
  for (let id = 0; id < 500; id += 1) {
    queue.join({ tenant: `once ${id}`, cost: 2, id });
    queue.join({ tenant: 'steady', cost: 2, id });
    take(queue, always);
    take(queue, always);
  }
  expect(queue.tenants).toBeLessThan(5);
});

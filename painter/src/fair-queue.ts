/** What waits: for whom, and how much work it is. */
export interface Queued {
  readonly tenant: string;
  readonly cost: number;
}

interface Tenant<T> {
  /** The finish tag of what it began last. */
  finish: number;
  /** In the order of their arrival. */
  places: { item: T; arrival: number }[];
}

/**
 * A queue that takes turns between tenants by the cost of their work: start-time fair queueing (Goyal, Vin and Cheng 1996).
 *
 * The item with the smallest start tag is next. An item's start tag is the finish tag of its tenant's item before it, or
 * the virtual time if that is later; its finish tag is its start tag and its cost. The virtual time is the start tag of
 * what began last. While two tenants both have items waiting, what they begin differs by no more than one item of each,
 * however many they send. A tag belongs to a tenant, not to an item, so what leaves the queue costs its tenant nothing.
 */
export class FairQueue<T extends Queued> {
  readonly #tenants = new Map<string, Tenant<T>>();
  #virtualTime = 0;
  #arrivals = 0;

  get length(): number {
    return [...this.#tenants.values()].reduce((sum, { places }) => sum + places.length, 0);
  }

  /** How many tenants it remembers. */
  get tenants(): number {
    return this.#tenants.size;
  }

  join(item: T): void {
    const tenant = this.#tenants.get(item.tenant) ?? { finish: 0, places: [] };
    this.#tenants.set(item.tenant, tenant);
    tenant.places.push({ item, arrival: (this.#arrivals += 1) });
  }

  /** Takes an item out that will not begin. @returns whether it was there */
  leave(item: T): boolean {
    const places = this.#tenants.get(item.tenant)?.places ?? [];
    const at = places.findIndex((place) => place.item === item);
    if (at < 0) return false;
    places.splice(at, 1);
    this.#forget();
    return true;
  }

  /** The item that begins next, of all that are ready. */
  next(isReady: (item: T) => boolean): T | undefined {
    const heads = [...this.#tenants.values()].flatMap((tenant) => {
      const place = tenant.places.find(({ item }) => isReady(item));
      return place === undefined ? [] : [{ ...place, start: this.#startOf(tenant) }];
    });
    return heads.sort(byTurn)[0]?.item;
  }

  /** Takes an item out that begins now. */
  begin(item: T): void {
    const tenant = this.#tenants.get(item.tenant)!;
    const start = this.#startOf(tenant);
    tenant.finish = start + item.cost;
    this.#virtualTime = start;
    this.leave(item);
  }

  /** All items, in the order in which they begin if all are ready. */
  order(): T[] {
    const placed = [...this.#tenants.values()].flatMap((tenant) => {
      let start = this.#startOf(tenant);
      return tenant.places.map((place) => {
        const tagged = { ...place, start };
        start += place.item.cost;
        return tagged;
      });
    });
    return placed.sort(byTurn).map(({ item }) => item);
  }

  /** The last item of the tenant with the most items; where the spared tenant has as many as another, of the other. */
  lastOfHeaviest(spared: string): T | undefined {
    const weights = [...this.#tenants].map(([name, { places }]) => ({
      places,
      weight: places.length - (name === spared ? 0.5 : 0),
    }));
    return weights.sort((a, b) => b.weight - a.weight)[0]?.places.at(-1)?.item;
  }

  /** Forgets whose turn it was, which is right when nothing waits and nothing is in work. */
  reset(): void {
    this.#tenants.clear();
    this.#virtualTime = 0;
  }

  #startOf({ finish }: Tenant<T>): number {
    return Math.max(finish, this.#virtualTime);
  }

  /** A finish tag that the virtual time has passed changes no start tag any more. */
  #forget(): void {
    for (const [name, { places, finish }] of this.#tenants) {
      if (places.length === 0 && finish <= this.#virtualTime) this.#tenants.delete(name);
    }
  }
}

function byTurn(a: { start: number; arrival: number }, b: { start: number; arrival: number }): number {
  return a.start - b.start || a.arrival - b.arrival;
}

import type { PlaygroundBody } from '../../api/generate.ts';
import { createStore } from '../../lib/store.ts';
import type { Reference } from './references/reference.ts';

/** Two requests that differ in their identity's version alone, until both are accepted. */
export interface Pair {
  body: PlaygroundBody;
  references: readonly Reference[];
  otherVersion: number;
}

interface Begun {
  name: string;
  otherVersion: number;
  /** Idempotency keys, so that another try of one that was sent is charged once. */
  keys: readonly [first: string, second: string];
  /** Of the first one, once it is accepted. */
  firstId: string | null;
}

/**
 * Remembers pairs that were sent in part: a repeat sends what is missing, and charges nothing twice. It is outside of any
 * component, so that this holds for whoever has looked at another screen meanwhile.
 */
export function createPairStore() {
  const { subscribe, get, set } = createStore<{ begun: readonly Begun[] }>({ begun: [] });
  const find = (pair: Pair): Begun | undefined => get().begun.find(({ name }) => name === nameOf(pair));
  return {
    subscribe,
    state: get,
    /** The id of the first of the two, where it was accepted and the second was not. */
    firstId: (pair: Pair): string | null => find(pair)?.firstId ?? null,
    /** @returns the same as before for the same pair */
    begin(pair: Pair): Begun {
      const before = find(pair);
      if (before !== undefined) return before;
      const keys = [crypto.randomUUID(), crypto.randomUUID()] as const;
      const begun = { name: nameOf(pair), otherVersion: pair.otherVersion, keys, firstId: null };
      set({ begun: [...get().begun, begun] });
      return begun;
    },
    acceptFirst({ name }: Begun, firstId: string): void {
      set({ begun: get().begun.map((one) => (one.name === name ? { ...one, firstId } : one)) });
    },
    end({ name }: Begun): void {
      set({ begun: get().begun.filter((one) => one.name !== name) });
    },
    /** The pair that a request belongs to. */
    withKey: (key: string): Begun | undefined => get().begun.find(({ keys }) => keys.includes(key)),
  };
}

/** An upload changes what is known of an image, and not which one it is. */
function nameOf({ body, references, otherVersion }: Pair): string {
  const { referenceImages: _, seed, ...rest } = body;
  return JSON.stringify([seed, rest, otherVersion, references.map(({ id }) => id)]);
}

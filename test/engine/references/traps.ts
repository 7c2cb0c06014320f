import type { SmallInternet } from '../../support/internet/small-internet.ts';
import type { naiveClients } from './naive-clients.ts';

/**
 * What a client does: it connects to what is forbidden, accepts a file that it must refuse, takes more than the limit
 * (gorges), waits for as long as it may, or refuses.
 */
export type Fate = 'connects' | 'accepts' | 'gorges' | 'waits' | 'refuses';

/** Something hostile, and the proof that it is: what it does to a client that is not careful. */
export interface Trap {
  /** Only where the URL does not say it. */
  what?: string;
  url: string;
  /** Sets up the servers and names. */
  arrange?: ((net: SmallInternet) => void) | undefined;
  naive: Fate;
  /** Which of the naive clients; `plain` unless it is said. */
  by?: keyof typeof naiveClients | undefined;
  /** How often the product connects before it refuses; never unless it is said. */
  connections?: number;
  /** The product says that the file is too large. Of no other failure does it say more than "could not be fetched". */
  isTooLarge?: true;
}

/** For the names of tests: no character that a terminal would act on. */
export function nameOf({ what, url }: Trap): string {
  const text = JSON.stringify(url.length > 100 ? `${url.slice(0, 40)}… (${url.length} characters)` : url);
  return what ?? text;
}

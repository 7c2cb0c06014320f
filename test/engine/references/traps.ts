import { answer } from '../../support/internet/pages.ts';
import type { SmallInternet } from '../../support/internet/small-internet.ts';
import type { Page } from '../../support/internet/web-server.ts';
import type { naiveClients } from './naive-clients.ts';
import { picture } from './world.ts';

/**
 * What becomes of a client: it connects to what it must not, accepts a file that it must not, takes more than the
 * limit, waits for as long as it is let, or refuses.
 */
export type Fate = 'connects' | 'accepts' | 'gorges' | 'waits' | 'refuses';

/** Something hostile, and the proof that it is: what it does to a client that knows no better. */
export interface Trap {
  /** Where the URL does not tell. */
  what?: string;
  url: string;
  /** Lays the trap; the page is one that a client may well be glad of. */
  arrange?(net: SmallInternet, page: Page): void;
  naive: Fate;
  /** Which of the naive clients it was; plain `fetch` where nothing is said. */
  by?: keyof typeof naiveClients;
  /** How often the product may connect before it knows; never where nothing is said. */
  connections?: number;
  /** The product says that the file is too large; it is the only thing that it tells of a server. */
  isTooLarge?: true;
}

export function lay(trap: Trap, net: SmallInternet): void {
  trap.arrange?.(net, answer(picture));
}

/** For the names of tests: no character that a terminal would act on. */
export function nameOf({ what, url }: Trap): string {
  const text = JSON.stringify(url.length > 100 ? `${url.slice(0, 40)}… (${url.length} characters)` : url);
  return what ?? text;
}

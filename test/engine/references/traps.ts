import type { SmallInternet } from '../../support/internet/small-internet.ts';

/** Something hostile that a fetcher must keep out of. */
export interface Trap {
  /** Only where the URL does not say it. */
  what?: string;
  url: string;
  /** Sets up the servers and names. */
  arrange?: ((net: SmallInternet) => void) | undefined;
  /** It never ends by itself. */
  isEndless?: true;
  /** How often the product connects before it refuses; never unless it is said. */
  connections?: number;
  /** The product says that the file is too large. Of no other failure does it say more than "could not be fetched". */
  isTooLarge?: true;
}

export const withoutEnd = (trap: Trap): Trap => ({ ...trap, isEndless: true });

/** For the names of tests: no character that a terminal would act on. */
export function nameOf({ what, url }: Trap): string {
  const text = JSON.stringify(url.length > 100 ? `${url.slice(0, 40)}… (${url.length} characters)` : url);
  return what ?? text;
}

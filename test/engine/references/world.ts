import type { fetchReference as FetchReference } from '../../../shared/adapters/reference-fetcher.ts';
import { answer } from '../../support/internet/pages.ts';
import {
  enterSmallInternet,
  startSmallInternet,
  type Residence,
  type SmallInternet,
} from '../../support/internet/small-internet.ts';

/** A test's way into the small internet, with the product loaded in it. */
export interface World {
  net: SmallInternet;
  home: Residence;
  fetchReference: typeof FetchReference;
  /** What a caller is told of everything that has to do with the network: the words for a name that is not there. */
  generic: string;
  close(): Promise<void>;
}

/** Every trap leads to this page at last, for those who fall into it. */
export const picture = Buffer.from('a picture, as far as the network is concerned');

/** @param engines loopback ports that stay within reach */
export async function createWorld(engines: number[] = []): Promise<World> {
  const net = await startSmallInternet();
  const isAllowed = (host: string, port: number) => host === '127.0.0.1' && engines.includes(port);
  const home = enterSmallInternet(net.access, { isAllowed });
  const { fetchReference } = await import('../../../shared/adapters/reference-fetcher.ts');
  const generic = await problemOf(fetchReference('https://nowhere.example/', AbortSignal.timeout(10_000)));
  return {
    net,
    home,
    fetchReference,
    generic,
    async close() {
      home.leave();
      await net.close();
    },
  };
}

/** The small internet as it is before a trap is laid in it: one good site. */
export function reset({ net, home }: World): void {
  net.clear();
  home.clear();
  net.site('cat.example', { '/cat.png': answer(picture), '/': answer(picture) });
}

/** What a caller is told when a reference is unusable. @throws when it was not, or when something else went wrong. */
export async function problemOf(attempt: Promise<unknown>): Promise<string> {
  const error = await attempt.then(
    () => new Error('it was usable'),
    (thrown: unknown) => thrown as Error,
  );
  if (error.name !== 'UnusableReference') throw error;
  return (error as Error & { problem: string }).problem;
}

/** @throws when it has not ended long after its signal did. */
export async function withinReason<T>(attempt: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const never = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('it goes on although its signal has ended it')), 20_000);
  });
  return Promise.race([attempt, never]).finally(() => clearTimeout(timer));
}

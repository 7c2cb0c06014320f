import { answer } from '../../support/internet/pages.ts';
import { beforeEach } from '@jest/globals';
import { enterSmallInternet, startSmallInternet } from '../../support/internet/small-internet.ts';
import type { Keep } from '../../support/fixture.ts';
import { useFixture } from '../../support/use-fixture.ts';

export const picture = Buffer.from('a picture, as far as the network is concerned');
/** What a client gets that falls into a trap. */
export const goodPage = answer(picture);

type Internet = Awaited<ReturnType<typeof openInternet>>;

/** The small internet, with the product loaded in it. Each test begins without traps: with one good site. */
export function useInternet(): Internet {
  const internet = useFixture(openInternet);
  beforeEach(() => reset(internet));
  return internet;
}

/** @param engines loopback ports that may be reached */
export async function openInternet(keep: Keep, engines: number[] = []) {
  const net = keep(await startSmallInternet());
  const isAllowed = (host: string, port: number) => host === '127.0.0.1' && engines.includes(port);
  const home = enterSmallInternet(net.access, { isAllowed });
  keep({ close: () => home.leave() });
  const fetcher = await import('../../../shared/references/fetcher.ts');
  const fetchReference = (url: string, signal: AbortSignal, contact?: string): Promise<Uint8Array> =>
    home.within(() => fetcher.fetchReference(url, contact ?? null, signal));
  /** The one problem that a caller reads for every failure of the network: here, of a name that does not exist. */
  const generic = await problemOf(fetchReference('https://nowhere.example/', new AbortController().signal));
  return { net, home, fetchReference, generic };
}

export function reset({ net, home }: Pick<Internet, 'net' | 'home'>): void {
  net.clear();
  home.clear();
  net.site('cat.example', { '/cat.png': goodPage, '/': goodPage });
}

/** What a caller reads of an unusable reference. @throws when it was usable, or failed in another way. */
export async function problemOf(attempt: Promise<unknown>): Promise<string> {
  const error = await attempt.then(
    () => new Error('it was usable'),
    (thrown: unknown) => thrown as Error,
  );
  if (error.name !== 'UnusableReference') throw error;
  return (error as Error & { problem: string }).problem;
}

/** @throws when it goes on long after its signal was aborted. */
export async function withinReason<T>(attempt: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const never = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('it goes on although its signal was aborted')), 90_000);
  });
  return Promise.race([attempt, never]).finally(() => clearTimeout(timer));
}

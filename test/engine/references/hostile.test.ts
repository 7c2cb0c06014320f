import { describe, expect, test } from '@jest/globals';
import { parseReferenceUrl } from '../../../shared/references/contract.ts';
import { referenceLimits } from '../../../shared/images/image-types.ts';
import { isForbidden } from '../../support/internet/socket-spy.ts';
import { until } from '../../support/until.ts';
import { hostileNames } from './hostile-names.ts';
import { hostileRedirects } from './hostile-redirects.ts';
import { hostileServers } from './hostile-servers.ts';
import { hostileUrls } from './hostile-urls.ts';
import { nameOf, type Trap } from './traps.ts';
import { useInternet, problemOf, withinReason } from './fixture.ts';

/** Short where the server never ends by itself; otherwise more than a busy machine needs. */
const patience = (isEndless: boolean) => AbortSignal.timeout(isEndless ? 300 : 90_000);
/** What a socket may take beyond an answer's limit: the head, and bytes that were already on the way. */
const slackBytes = 256 * 1024;

const internet = useInternet();

const traps = [...hostileUrls, ...hostileNames, ...hostileRedirects, ...hostileServers];
const named = (list: Trap[]) => list.map((trap) => [nameOf(trap), trap] as const);

describe('the fetcher keeps out of', () => {
  test.each(named(traps))('%s', async (_, trap) => {
    trap.arrange?.(internet.net);
    const { isEndless = false, connections = 0 } = trap;
    const attempt = internet.fetchReference(trap.url, patience(isEndless));
    const problem = await withinReason(problemOf(attempt));
    const { destinations, sockets } = internet.home;
    expect(destinations.filter(isForbidden)).toEqual([]);
    expect(destinations.filter(({ outcome }) => outcome === 'name')).toEqual([]);
    // Short as the time is, a busy machine may not have come as far as to connect.
    expect(isEndless ? Math.max(destinations.length, connections) : destinations.length).toBe(connections);
    expect(problem).toBe(trap.isTooLarge ? 'must be at most 10 MiB' : internet.generic);
    const bytes = sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
    expect(bytes).toBeLessThanOrEqual(trap.isTooLarge ? referenceLimits.maxBytes + slackBytes : slackBytes);
    await until('its sockets are closed', () => sockets.every(({ destroyed }) => destroyed), 60_000);
  });
});

test.each(named(hostileUrls))('a request that names %s is refused by its text alone', (_, { url }) => {
  expect(parseReferenceUrl(url)).toBeNull();
});

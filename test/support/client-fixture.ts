import { createInterface } from 'node:readline';
import { billingPeriod } from '../../shared/licenses/billing-period.ts';
import type { License } from '../../shared/licenses/license.ts';
import { periodStore } from '../../shared/licenses/period-store.ts';
import { startCuttingProxy, type Fate } from './cutting-proxy.ts';
import { keepService, openFixture } from './fixture.ts';
import { grant } from './grants.ts';

/**
 * A service, and a proxy before it that breaks connections, for tests of clients that are written in another language:
 * `node test/support/client-fixture.ts [quick] [OPTION OF npm start]…`, of which 'quick' delivers files at once, and no pictures. The first line that it prints says where they are. Then
 * each line of its input is a command in JSON, answered by one line. The end of its input ends it.
 */
interface Commands {
  /** A license of the test's own, with a key. */
  grant?: Parameters<typeof grant>[1];
  /** What a license that was granted has used and what is held of it. */
  totals?: string;
  /** What happens to the next requests to generate. */
  fates?: Fate[];
  /** Which requests the proxy has seen since it was asked last. */
  seen?: true;
}

const fixture = await openFixture(async (keep) => {
  const args = process.argv.slice(2);
  const quickContainer = args[0] === 'quick';
  const service = await keepService(keep, { args: quickContainer ? args.slice(1) : args, quickContainer });
  return { service, proxy: keep(await startCuttingProxy(service.ready.baseUrl)) };
});
const { proxy, service } = fixture;
const { table } = service;
const granted = new Map<string, License>();

async function answer(command: Commands): Promise<object> {
  if (command.grant) {
    const { license, key } = await grant(table, command.grant);
    granted.set(license.licenseId, license);
    return { key, licenseId: license.licenseId };
  }
  if (command.totals !== undefined) {
    const { startMs } = billingPeriod(granted.get(command.totals)!.periodAnchorMs, Date.now());
    return periodStore(table).get(command.totals, startMs);
  }
  if (command.fates) {
    proxy.fates.splice(0, proxy.fates.length, ...command.fates);
    return {};
  }
  return { seen: proxy.seen.splice(0), fates: proxy.fates };
}

const { pathname } = new URL(service.ready.baseUrl);
console.log(JSON.stringify({ ...service.ready, proxyUrl: proxy.url + pathname, dataDir: service.dataDir }));
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await answer(JSON.parse(line) as Commands)));
}
await fixture.close();

import { AsyncLocalStorage } from 'node:async_hooks';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import type { Socket } from 'node:net';
import tls from 'node:tls';
import { createAuthority } from './certificates.ts';
import { startDnsServer, type DnsServer, type Resolution } from './dns-server.ts';
import { watchSockets, type Destination, type SpyOptions } from './socket-spy.ts';
import { startRawServer, startWebServer, type Page, type WebServer } from './web-server.ts';

/** Public addresses. No packet goes to them: their connections end at servers on 127.0.0.1. */
export const addresses = {
  web: '93.184.215.14',
  other: '151.101.1.140',
  web6: '2606:2800:21f:cb07:6820:80da:af6b:8b2c',
  /** Takes no connection. */
  dead: '93.184.215.99',
  dead6: '2606:2800:21f:cb07::99',
  /** Never answers whether it takes a connection. */
  silent: '93.184.215.98',
  /** Takes a connection and never says anything. */
  hanging: '93.184.215.97',
  /** Speaks plain HTTP where TLS is due. */
  plain: '93.184.215.96',
  /** Cuts the handshake. */
  cutting: '93.184.215.95',
} as const;

/** What a process needs to know to enter the small internet. */
export interface InternetAccess {
  dnsServer: string;
  tlsPort: number;
  detours: SpyOptions['detours'];
  authority: string;
}

export interface SmallInternet {
  dns: DnsServer;
  web: WebServer;
  access: InternetAccess;
  /** Adds a web site with its pages by path. `at`: its addresses for the first query, the second query and so on. */
  site(name: string, pages: Record<string, Page>, ...at: Resolution[]): void;
  /** Forgets all names, pages and requests. */
  clear(): void;
  close(): Promise<void>;
}

/** Name server, web servers and a certificate authority, all in this process and on 127.0.0.1. */
export async function startSmallInternet(): Promise<SmallInternet> {
  const authority = createAuthority();
  const names = await startDnsServer();
  const web = await startWebServer(authority, addresses.web);
  const hanging = await startRawServer((socket) => void socket.resume());
  const plain = await startRawServer((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\nno TLS here'));
  const cutting = await startRawServer((socket) => void socket.once('data', () => socket.resetAndDestroy()));
  return {
    dns: names,
    web,
    access: {
      dnsServer: names.address,
      tlsPort: web.port,
      detours: {
        [addresses.dead]: 'dead',
        [addresses.dead6]: 'dead',
        [addresses.silent]: 'silent',
        [addresses.hanging]: hanging.port,
        [addresses.plain]: plain.port,
        [addresses.cutting]: cutting.port,
      },
      authority: authority.cert,
    },
    site(name, pages, ...at) {
      names.set(name, ...(at.length === 0 ? [[addresses.web]] : at));
      for (const [path, page] of Object.entries(pages)) web.set(name, path, page);
    },
    clear() {
      names.clear();
      web.clear();
    },
    async close() {
      await Promise.all([names, web, hanging, plain, cutting].map((server) => server.close()));
    },
  };
}

export interface Residence {
  /** Every destination of the work that ran `within`, in order. */
  destinations: Destination[];
  /** Every socket of that work that was led somewhere or refused; `bytesRead` of each is what it took from the network. */
  sockets: Socket[];
  /**
   * Runs work whose connections are written down, also those that it opens later. Jest runs many test files in one
   * process, so a connection that an earlier file opens late is refused too, but nobody's test is judged by it.
   */
  within<T>(work: () => T): T;
  clear(): void;
  leave(): void;
}

/**
 * Moves this process into the small internet: its resolver, the authorities it trusts, and its sockets.
 * Load the code under test only afterwards: `node:dns` binds its functions to the resolver of their time.
 * @param onDestination gets every destination of the process, whoever asked for it.
 */
export function enterSmallInternet(
  access: InternetAccess,
  { isAllowed = () => false, onDestination }: Partial<Pick<SpyOptions, 'isAllowed' | 'onDestination'>> = {},
): Residence {
  const destinations: Destination[] = [];
  const sockets: Socket[] = [];
  const context = new AsyncLocalStorage<true>();
  const nameServers = dns.getServers();
  const authorities = tls.getCACertificates('default');
  const setNameServers = (servers: string[]) => {
    dns.promises.setServers(servers);
    dns.setServers(servers);
    syncBuiltinESMExports();
  };
  setNameServers([access.dnsServer]);
  tls.setDefaultCACertificates([...authorities, access.authority]);
  const release = watchSockets({
    ...access,
    isAllowed,
    onDestination(destination) {
      if (context.getStore()) destinations.push(destination);
      onDestination?.(destination);
    },
    onSocket(socket) {
      if (context.getStore()) sockets.push(socket);
    },
  });
  return {
    destinations,
    sockets,
    within: (work) => context.run(true, work),
    clear() {
      destinations.length = 0;
      sockets.length = 0;
    },
    leave() {
      release();
      tls.setDefaultCACertificates(authorities);
      setNameServers(nameServers);
    },
  };
}

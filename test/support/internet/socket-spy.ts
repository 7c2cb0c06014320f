import dns from 'node:dns';
import { isIP, Socket, type TcpSocketConnectOpts } from 'node:net';
import { isPublicByRegistries } from './address-model.ts';

/** Where a connection should go, as the caller wrote it. */
export interface Destination {
  host: string;
  port: number;
  /**
   * led: to a server of the small internet. allowed: to where the caller wanted. refused: not made.
   * name: the caller gave a name; the addresses that it resolves to follow as further destinations.
   */
  outcome: 'led' | 'allowed' | 'refused' | 'name';
}

export interface SpyOptions {
  /** Resolves the names that callers give in place of an address. */
  dnsServer: string;
  /** Where public addresses' port 443 leads to, on 127.0.0.1. */
  tlsPort: number;
  /** Public addresses that lead elsewhere: to another port, to a refusal (dead), or to no answer at all (silent). */
  detours: Readonly<Record<string, number | 'dead' | 'silent'>>;
  /** Destinations that are let through: the local engines that the code under test needs. */
  isAllowed(host: string, port: number): boolean;
  onDestination(destination: Destination): void;
  onSocket?(socket: Socket): void;
}

/** Only a public address on port 443 may be reached, and what was let through. */
export function isForbidden({ host, port, outcome }: Destination): boolean {
  return outcome !== 'allowed' && outcome !== 'name' && !(port === 443 && isPublicByRegistries(host));
}

/**
 * Stands between a process and its network: every connection of its sockets is recorded, and only those to public
 * addresses go anywhere, which is to the small internet. HTTP clients of every kind end up in `Socket.connect`.
 * @returns how to take it away again.
 */
export function watchSockets(options: SpyOptions): () => void {
  const original = Socket.prototype.connect as (this: Socket, ...args: unknown[]) => Socket;
  const resolver = new dns.promises.Resolver();
  resolver.setServers([options.dnsServer]);

  function connect(this: Socket, ...args: unknown[]): Socket {
    const [target, onConnect] = readArguments(args);
    const host = target.path ?? target.host ?? 'localhost';
    const port = Number(target.port ?? 0);
    if (options.isAllowed(host, port)) {
      options.onDestination({ host, port, outcome: 'allowed' });
      return original.apply(this, args);
    }
    if (onConnect) this.once('connect', onConnect);
    options.onSocket?.(this);
    // As Node does at once: callers look at it to see whether they have to wait for `connect`.
    Object.assign(this, { connecting: true });
    void follow(this, target, host, port);
    return this;
  }

  async function follow(socket: Socket, target: Partial<TcpSocketConnectOpts>, host: string, port: number) {
    const isName = isIP(host) === 0;
    if (isName) options.onDestination({ host, port, outcome: 'name' });
    for (const address of isName ? await addressesOf(host) : [host]) {
      if (socket.destroyed) return;
      const way = wayTo(address, port);
      options.onDestination({ host: address, port, outcome: way === 'dead' ? 'refused' : 'led' });
      if (way === 'silent') return;
      if (way !== 'dead') {
        original.call(socket, { ...plain(target), host: '127.0.0.1', port: way, family: 4 });
        return;
      }
    }
    const refusal = { code: 'ECONNREFUSED', syscall: 'connect', address: host, port };
    // Node fails later too, so that the caller has the time to listen for it.
    setImmediate(() => socket.destroy(Object.assign(new Error(`connect ECONNREFUSED ${host}`), refusal)));
  }

  function wayTo(address: string, port: number): number | 'dead' | 'silent' {
    if (port !== 443 || !isPublicByRegistries(address)) return 'dead';
    return options.detours[address] ?? options.tlsPort;
  }

  async function addressesOf(name: string): Promise<string[]> {
    if (/(^|\.)localhost\.?$/i.test(name)) return ['127.0.0.1'];
    const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    return found.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  }

  Socket.prototype.connect = connect as typeof Socket.prototype.connect;
  return () => {
    Socket.prototype.connect = original as typeof Socket.prototype.connect;
    resolver.cancel();
  };
}

type Target = Partial<TcpSocketConnectOpts> & { path?: string | null };

/** `connect` is called with options, with a port and a host, with a path, or with an array of such (by `net.connect`). */
function readArguments(args: unknown[]): [target: Target, onConnect: (() => void) | undefined] {
  const [first, second] = Array.isArray(args[0]) ? (args[0] as unknown[]) : args;
  const onConnect = [...args, ...(Array.isArray(args[0]) ? args[0] : [])].find(
    (argument) => typeof argument === 'function',
  ) as (() => void) | undefined;
  if (typeof first === 'object' && first !== null) return [first as Target, onConnect];
  if (typeof first === 'string' && Number.isNaN(Number(first))) return [{ path: first }, onConnect];
  return [{ port: Number(first), host: typeof second === 'string' ? second : 'localhost' }, onConnect];
}

/** The options without those that concern names and the real destination. */
function plain(target: Target): object {
  const { lookup: _, localAddress: __, autoSelectFamily: ___, hints: ____, ...rest } = target;
  return { ...rest, autoSelectFamily: false };
}

import { createSocket, type RemoteInfo } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6, type AddressInfo } from 'node:net';
import dnsPacket, { type Answer, type DecodedPacket } from 'dns-packet';

/** What a name resolves to: addresses of both kinds, another name, or a way to fail. */
export type Resolution =
  | readonly string[]
  | { cname: string; addresses?: readonly string[] }
  | 'nxdomain'
  | 'servfail'
  | 'refused'
  | 'silence'
  /** A packet that is no DNS message. */
  | 'garbage';

export interface DnsQuery {
  name: string;
  type: 'A' | 'AAAA';
}

export interface DnsServer {
  /** For `dns.setServers`. */
  address: string;
  /** In the order of their arrival. */
  queries: DnsQuery[];
  /** Several resolutions take turns, one per query of a type; the last one stays. */
  set(name: string, ...resolutions: Resolution[]): void;
  clear(): void;
  close(): Promise<void>;
}

const codes = { nxdomain: 3, servfail: 2, refused: 5 } as const;
const isAuthoritative = 1 << 10;

/** A name server on a UDP port of 127.0.0.1. No answer of it may be cached. */
export async function startDnsServer(): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const names = new Map<string, readonly Resolution[]>();
  const asked = new Map<string, number>();
  const queries: DnsQuery[] = [];
  const unanswered: (() => void)[] = [];

  function next(name: string, type: string): Resolution {
    const resolutions = names.get(name) ?? (['nxdomain'] as const);
    const turn = asked.get(`${type} ${name}`) ?? 0;
    asked.set(`${type} ${name}`, turn + 1);
    return resolutions[Math.min(turn, resolutions.length - 1)]!;
  }

  function answer(packet: DecodedPacket, from: RemoteInfo): void {
    const [question] = packet.questions ?? [];
    if (!question || (question.type !== 'A' && question.type !== 'AAAA')) return;
    const { type } = question;
    const name = question.name.toLowerCase();
    queries.push({ name, type });
    const resolution = next(name, type);
    const reply = (code: number, answers: Answer[] = []) => {
      const flags = isAuthoritative | code;
      const { id = 0 } = packet;
      const message = dnsPacket.encode({ type: 'response', id, flags, questions: [question], answers });
      socket.send(message, from.port, from.address);
    };
    if (resolution === 'silence') unanswered.push(() => reply(codes.nxdomain));
    else if (resolution === 'garbage') socket.send(Buffer.from('no DNS message'), from.port, from.address);
    else if (typeof resolution === 'string') reply(codes[resolution]);
    else reply(0, records(question.name, type, resolution));
  }

  socket.on('message', (message, from) => answer(dnsPacket.decode(message), from));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
    queries,
    set: (name, ...resolutions) => void names.set(name.toLowerCase(), resolutions),
    clear() {
      names.clear();
      asked.clear();
      queries.length = 0;
    },
    async close() {
      // A resolver that still waits would keep its process alive.
      for (const settle of unanswered) settle();
      await new Promise<void>((resolve) => setImmediate(resolve));
      await new Promise<void>((resolve) => socket.close(resolve));
    },
  };
}

function records(name: string, type: 'A' | 'AAAA', resolution: Exclude<Resolution, string>): Answer[] {
  const isAlias = 'cname' in resolution;
  const addresses = isAlias ? (resolution.addresses ?? []) : resolution;
  const owner = isAlias ? resolution.cname : name;
  const alias: Answer[] = isAlias ? [{ name, type: 'CNAME', ttl: 0, data: resolution.cname }] : [];
  const ofType = addresses.filter((address) => isIPv6(address) === (type === 'AAAA'));
  return [...alias, ...ofType.map((data): Answer => ({ name: owner, type, ttl: 0, data }))];
}

import { resolve4, resolve6 } from 'node:dns/promises';
import { request as sendHttps } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { parseReferenceUrl } from './contract.ts';
import { referenceLimits } from '../images/image-types.ts';
import { isPublicAddress } from './public-address.ts';

/** A reference that can't be used. `problem` is for the caller. The cause says what really happened, for the log. */
export class UnusableReference extends Error {
  readonly problem: string;

  constructor(problem: string, cause?: unknown) {
    super('a reference image is unusable', { cause });
    this.name = 'UnusableReference';
    this.problem = problem;
  }
}

const tooLarge = `must be at most ${referenceLimits.maxBytes / 1024 / 1024} MiB`;

/** One text for every failure of a name, an address or a server, so that no caller can map a network by them. */
const unreachable =
  'could not be fetched: it must be an image that everyone on the internet can open at once over HTTPS';

const serviceName = 'image-generation-service';
const maxRedirects = 3;
const maxAddressesTried = 3;
const maxInterimAnswers = 8;
const redirects = new Set([301, 302, 303, 307, 308]);

/**
 * Fetches what somebody else's URL names: over HTTPS from a public address only, checked anew for each redirect, and
 * connected to the very address that was checked, so that a name can't mean another one in between.
 * @param contact whom the servers may ask, as `contactPattern` has it
 * @param signal ends it, wherever it is.
 * @returns at most `referenceLimits.maxBytes` bytes.
 * @throws UnusableReference
 */
export async function fetchReference(
  url: string,
  contact: string | null,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const userAgent = contact === null ? serviceName : `${serviceName} (${contact})`;
  try {
    let target = parseReferenceUrl(url);
    for (let hop = 0; hop <= maxRedirects; hop++) {
      if (target === null) throw new Error('an address that is not fetched');
      const answer = await open(target, await publicAddresses(target, signal), userAgent, signal);
      try {
        if (!redirects.has(answer.statusCode!)) return await readImage(answer, signal);
        target = redirectTarget(answer, target);
      } finally {
        answer.destroy();
      }
    }
    throw new Error('too many redirects');
  } catch (error) {
    throw error instanceof UnusableReference ? error : new UnusableReference(unreachable, error);
  }
}

/** Every address of a name, resolved once. If one of them is not public, the name is refused. */
async function publicAddresses(url: URL, signal: AbortSignal): Promise<string[]> {
  signal.throwIfAborted();
  const name = hostOf(url);
  // Many names have addresses of one kind only. A name without any is refused below.
  const answers = Promise.all([resolve4(name).catch(() => []), resolve6(name).catch(() => [])]);
  const addresses = (await untilAborted(answers, signal)).flat();
  if (addresses.length === 0) throw new Error('a name without an address');
  if (!addresses.every(isPublicAddress)) throw new Error('an address that is not public');
  return addresses;
}

/** The answer of the first address that accepts a connection. */
async function open(
  url: URL,
  addresses: string[],
  userAgent: string,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  let refused: unknown;
  for (const address of addresses.slice(0, maxAddressesTried)) {
    try {
      return await get(url, address, userAgent, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).syscall !== 'connect') throw error;
      refused = error;
    }
  }
  throw refused;
}

function get(url: URL, address: string, userAgent: string, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const request = sendHttps({
      // The host is an address, so nothing is resolved again. The certificate must be for the name.
      host: address,
      port: 443,
      servername: hostOf(url),
      path: url.pathname + url.search,
      headers: {
        host: url.host,
        accept: 'image/png, image/jpeg, image/webp',
        'accept-encoding': 'identity',
        'user-agent': userAgent,
      },
      agent: false,
      signal,
    });
    let interim = 0;
    request.on('information', () => {
      if (++interim > maxInterimAnswers) request.destroy(new Error('too many interim answers'));
    });
    request.on('error', reject);
    request.on('response', resolve);
    // A switch of protocols ends the connection without any other event.
    request.on('close', () => reject(new Error('no answer')));
    request.end();
  });
}

function redirectTarget({ headers }: IncomingMessage, from: URL): URL | null {
  const { location } = headers;
  const url = location === undefined ? null : URL.parse(location, from.href);
  return url === null ? null : parseReferenceUrl(url.href);
}

async function readImage(answer: IncomingMessage, signal: AbortSignal): Promise<Uint8Array> {
  const { statusCode, headers } = answer;
  if (statusCode !== 200) throw new Error(`status ${statusCode}`);
  const encoding = headers['content-encoding'];
  // Nothing is unpacked. Compression was not asked for, so it can only be a bomb.
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') throw new Error('an encoded answer');
  if (Number(headers['content-length'] ?? 0) > referenceLimits.maxBytes)
    throw new UnusableReference(tooLarge);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > referenceLimits.maxBytes) throw new UnusableReference(tooLarge);
    chunks.push(chunk);
  }
  // Without a length, an answer that is cut off looks like a whole one.
  signal.throwIfAborted();
  return Buffer.concat(chunks, bytes);
}

/** The host's name without the dot at its end, which DNS queries and certificates leave out. */
function hostOf(url: URL): string {
  return url.hostname.replace(/\.$/, '');
}

/** The resolver takes no signal, so answers that come too late are ignored. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

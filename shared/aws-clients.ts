import { createHash, createHmac, createSecretKey, type KeyObject } from 'node:crypto';

/*
 * The SDK's clients with less work for each call, and the same requests, retries, time-outs and errors. What each part
 * saves is in docs/performance.md.
 */

/** As the SDK's signers ask for it: SHA-256, or HMAC-SHA-256 where there is a secret. */
export class Sha256 {
  readonly #hash;

  constructor(secret?: string | ArrayBuffer | ArrayBufferView) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', keyOf(secret));
  }

  update(data: Uint8Array): void {
    this.#hash.update(data);
  }

  digest(): Promise<Uint8Array> {
    return Promise.resolve(this.#hash.digest());
  }

  /** Part of the SDK's interface; its signers make a new one instead. */
  reset(): void {
    throw new Error('A digest is made once.');
  }
}

/** A text is an account's secret, of which a process has one; bytes are a day's signing key, kept by the SDK. */
const keysByText = new Map<string, KeyObject>();
const keysByBytes = new WeakMap<object, KeyObject>();
const maxTexts = 20;

/** Node.js would make a key object of the same secret for each digest, which takes four times the digest's own time. */
function keyOf(secret: string | ArrayBuffer | ArrayBufferView): KeyObject {
  if (typeof secret !== 'string') {
    const key = keysByBytes.get(secret) ?? createSecretKey(secret as NodeJS.ArrayBufferView);
    keysByBytes.set(secret, key);
    return key;
  }
  const key = keysByText.get(secret) ?? createSecretKey(secret, 'utf8');
  if (keysByText.size >= maxTexts) keysByText.clear();
  keysByText.set(secret, key);
  return key;
}

/** What a client is made with, beside what its service needs. */
export const leanOptions = { cacheMiddleware: true, sha256: Sha256 };

interface Client {
  config: object;
  middlewareStack: { remove(name: string): boolean };
}

type MakeSigner = (scheme: unknown) => Promise<unknown>;

/** For what nobody reads: debug logs, the trace header of Lambda's event sources, the SDK's and Node.js's versions. */
const needlessMiddleware = ['loggerMiddleware', 'recursionDetectionMiddleware', 'getUserAgentMiddleware'];

/** Takes out of a client what its calls don't need. @returns the same client. */
export function lean<C extends Client>(client: C): C {
  for (const name of needlessMiddleware) client.middlewareStack.remove(name);
  const config = client.config as { signer: MakeSigner };
  const makeSigner = config.signer;
  let signer: Promise<unknown> | undefined;
  // All calls of a client are signed for one service in one region, and the signer asks for credentials each time.
  config.signer = (scheme) => {
    signer ??= makeSigner(scheme).then((made) => {
      layOutAnew(config);
      return made;
    });
    signer.catch(() => (signer = undefined));
    return signer;
  };
  return client;
}

/**
 * The SDK copies its configuration several times for each call. As it got its members one after another, V8 keeps it as
 * a dictionary; once it is a prototype that is read through, V8 lays it out as an object, and a copy takes a seventh.
 */
function layOutAnew(config: object): void {
  const Reader = function () {} as unknown as new () => { region?: unknown };
  Reader.prototype = config;
  const reader = new Reader();
  for (let i = 0; i < 10; i++) void reader.region;
}

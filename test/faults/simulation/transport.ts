import { NodeHttpHandler } from '@smithy/node-http-handler';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Network } from './network.ts';

/**
 * Puts a simulation's network in the place of the process's own, as `virtual-time.ts` does with time. It is there once in a
 * process, however many copies of the service are.
 */
let network: Network | null = null;
const realHandle = NodeHttpHandler.prototype.handle;
const realFetch = globalThis.fetch;

/** Whose network it is; null gives the process its own back. */
export function useNetwork(of: Network | null): void {
  network = of;
}

/** Takes what the SDK's clients send, below everything that they do themselves: signing, retries, time-outs. */
export function installNetwork(): void {
  NodeHttpHandler.prototype.handle = async function handle(request, options = {}) {
    if (network === null) return realHandle.call(this, request, options);
    const { requestTimeout } = await (
      this as unknown as { configProvider: Promise<{ requestTimeout?: number }> }
    ).configProvider;
    const signal = options.abortSignal as AbortSignal | undefined;
    return { response: (await network.send(request as never, requestTimeout, signal)) as never };
  };
  // Signatures take a tenth of the time and are looked at elsewhere; links are signed as ever.
  const realSign = SignatureV4.prototype.sign;
  SignatureV4.prototype.sign = async function sign(this: SignatureV4, request: never, options: never) {
    if (network === null) return realSign.call(this, request, options);
    const { headers } = request as { headers: Record<string, string> };
    return Object.assign(request, { headers: { ...headers, authorization: 'AWS4-HMAC-SHA256 simulated' } });
  } as never;
  globalThis.fetch = ((url: string, init: RequestInit) =>
    network === null ? realFetch(url, init) : network.fetch(url, init)) as never;
}

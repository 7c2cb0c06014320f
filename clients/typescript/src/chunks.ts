import { ConnectionError } from './errors.ts';

// The service sends an event every ten seconds, and a storage its bytes at once: what is silent for so long is broken.
const silenceTimeoutMs = 45_000;

/** The chunks of a body. @throws ConnectionError when the connection breaks or no chunk comes for `silenceTimeoutMs`. */
export async function* chunksOf(body: Response['body']): AsyncGenerator<Uint8Array<ArrayBuffer>, void, void> {
  if (body === null) return;
  const reader = body.getReader();
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    for (;;) {
      const silence = new Promise<never>((_, reject) => {
        timer = setTimeout(reject, silenceTimeoutMs);
      });
      const { done, value } = await Promise.race([reader.read(), silence]).finally(() => clearTimeout(timer));
      if (done) return;
      yield value;
    }
  } catch (cause) {
    throw new ConnectionError('The answer broke off.', { answerBegan: true, cause });
  } finally {
    void reader.cancel().catch(() => {});
  }
}

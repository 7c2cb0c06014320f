/** What the service answers about one generation, and what the client makes of it. */
export const requestId = 'req_1';
const image = {
  outputs: ['signed link'],
  previews: ['signed link to a preview'],
  identity: { id: 'idn_1', name: 'harbor' },
  seed: 7,
  processingTimeMs: 2400,
  referenceImagesUsed: 0,
};
const usage = {
  creditsUsed: 2,
  creditsLimit: 10,
  creditsRemaining: 8,
  creditsCharged: 1,
  periodResetDate: '',
};
export const answer = { requestId, ...image, usage };
export const result = { requestId, ...image, creditsCharged: 1, usage };
export const lookedUp = { ...result, usage: null };

export function stored(
  status: string,
  errorMessage: string | null = null,
  errorCode: string | null = null,
): object {
  return { id: requestId, ...image, creditsCharged: 1, status, errorMessage, errorCode };
}

export function event(name: string, data: unknown): string {
  return `event: ${name}\ndata: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}

export const accepted = event('accepted', { requestId, creditsReserved: 1 });
export const completed = event('completed', answer);

export function streamOf(source: string | ReadableStream, headers: Record<string, string> = {}): Response {
  return new Response(source, {
    headers: { 'content-type': 'text/event-stream; charset=utf-8', ...headers },
  });
}

/** An answer whose stream a test writes and breaks. It breaks by itself when its request is aborted. */
export function openStream(signal?: AbortSignal) {
  let stream!: ReadableStreamDefaultController<Uint8Array>;
  let isCancelled = false;
  const source = new ReadableStream<Uint8Array>({
    start: (controller) => void (stream = controller),
    cancel: () => void (isCancelled = true),
  });
  signal?.addEventListener('abort', () => stream.error(signal.reason));
  return {
    response: streamOf(source),
    write: (text: string) => stream.enqueue(new TextEncoder().encode(text)),
    fail: (error: unknown) => stream.error(error),
    isCancelled: () => isCancelled,
  };
}

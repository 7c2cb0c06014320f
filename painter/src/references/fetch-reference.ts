import { UnreadableReference } from './unreadable-reference.ts';

const LIMIT_BYTES = 16 * 1024 * 1024;
const TIMEOUT_MS = 30_000;

/**
 * Fetches one reference image from its presigned link.
 *
 * @throws UnreadableReference, or the signal's reason once it aborts.
 */
export async function fetchReference(url: string, signal: AbortSignal): Promise<Uint8Array> {
  try {
    const response = await fetch(url, {
      redirect: 'error',
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw unreadable(`could not be fetched: its link answered with HTTP ${response.status}`);
    }
    return await readAll(response);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof UnreadableReference) throw error;
    throw unreadable(`could not be fetched: ${trouble(error as Error)}`);
  }
}

async function readAll({ body }: Response): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop early closes the connection, so the rest of a file that is too long is not read.
  for await (const piece of body ?? []) {
    bytes += piece.length;
    if (bytes > LIMIT_BYTES) throw unreadable('is larger than 16 MiB');
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function unreadable(message: string): UnreadableReference {
  return new UnreadableReference('reference_unreadable', message);
}

/** Names an error by its code only, because its text may hold the link. */
function trouble({ name, cause }: Error): string {
  if (name === 'TimeoutError') return 'it took too long';
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : '';
  return /^[A-Z][A-Z_]{2,40}$/.test(code) ? code : 'the connection failed';
}

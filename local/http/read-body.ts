import type { IncomingMessage } from 'node:http';

/**
 * Reads a whole body.
 * @returns null when it has more bytes than the limit. The connection stays open, so that the sender can get an answer.
 * @throws when the sender leaves before the end.
 */
export async function readBody(message: IncomingMessage, maxBytes: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      // Some senders read no answer before they have sent the whole body.
      message.resume();
      return null;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

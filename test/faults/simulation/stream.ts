/** Bytes that come one after another, as a socket would bring them. */
export function byteStream() {
  const chunks: (Uint8Array | Error | null)[] = [];
  let wake = () => {};
  const push = (chunk: Uint8Array | Error | null) => {
    chunks.push(chunk);
    wake();
  };
  async function* read(): AsyncGenerator<Uint8Array> {
    for (;;) {
      while (chunks.length === 0) await new Promise<void>((resolve) => (wake = resolve));
      const chunk = chunks.shift()!;
      if (chunk === null) return;
      if (chunk instanceof Error) throw chunk;
      yield chunk;
    }
  }
  return { send: push, end: () => push(null), fail: (error: Error) => push(error), read: read() };
}

export type ByteStream = ReturnType<typeof byteStream>;

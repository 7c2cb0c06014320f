/** One event of a `text/event-stream`. */
export interface StreamEvent {
  event: string;
  data: string;
}

/**
 * Reads server-sent events as WHATWG HTML defines them ("9.2.6 Interpreting an event stream"): UTF-8, an optional byte
 * order mark, lines that end in CRLF, LF or CR, comments, and data of several lines. Chunks may end anywhere. An event that
 * the stream's end cuts off is dropped. `id` and `retry` are ignored, because this reader does not reconnect.
 *
 * @throws what the stream's reader throws when the connection breaks.
 */
export async function* readEvents(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<StreamEvent, void, void> {
  const lines = lineSplitter();
  let event = '';
  let data: string[] = [];
  // The decoder removes the byte order mark and keeps the first bytes of a character that spans two chunks.
  const decoder = new TextDecoder();
  for await (const chunk of chunks) {
    for (const line of lines(decoder.decode(chunk, { stream: true }))) {
      if (line === '') {
        if (data.length > 0) yield { event: event === '' ? 'message' : event, data: data.join('\n') };
        event = '';
        data = [];
        continue;
      }
      const [field, value] = fieldOf(line);
      if (field === 'event') event = value;
      else if (field === 'data') data.push(value);
    }
  }
}

/** @returns the field's name, empty for a comment, and its value without the one space that may stand before it. */
function fieldOf(line: string): [string, string] {
  const colon = line.indexOf(':');
  if (colon === -1) return [line, ''];
  const value = line.slice(colon + 1);
  return [line.slice(0, colon), value.startsWith(' ') ? value.slice(1) : value];
}

/** @returns a function that takes text piece by piece and returns the lines that each piece completes. */
function lineSplitter(): (text: string) => string[] {
  let rest = '';
  let endedInCr = false;
  return (text) => {
    if (text === '') return [];
    // A CR at the end of the last piece ended a line. An LF right after it is part of the same line end.
    const added = endedInCr && text.startsWith('\n') ? text.slice(1) : text;
    endedInCr = text.endsWith('\r');
    const lines = (rest + added).split(/\r\n|\n|\r/);
    rest = lines.pop() ?? '';
    return lines;
  };
}

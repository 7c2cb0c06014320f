/** One event of a `text/event-stream`. */
export interface StreamEvent {
  event: string;
  data: string;
}

/**
 * Reads server-sent events as WHATWG HTML, "9.2.6 Interpreting an event stream", says: UTF-8, an optional byte order
 * mark, lines that end in CRLF, LF or CR, comments, and data of several lines. Chunks may break anywhere. An event that
 * the stream's end cuts off is dropped. `id` and `retry` are for reconnecting readers, which this one is not.
 *
 * @throws what the stream's reader throws when the connection breaks.
 */
export async function* readEvents(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<StreamEvent, void, void> {
  const lines = lineSplitter();
  let event = '';
  let data: string[] = [];
  // Removes the byte order mark itself, and keeps the bytes of a character that a chunk broke.
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

/** @returns the field's name, empty for a comment, and its value without the one space that may precede it. */
function fieldOf(line: string): [string, string] {
  const colon = line.indexOf(':');
  if (colon === -1) return [line, ''];
  const value = line.slice(colon + 1);
  return [line.slice(0, colon), value.startsWith(' ') ? value.slice(1) : value];
}

/** @returns a function that takes text piece by piece and gives the lines that were completed by each. */
function lineSplitter(): (text: string) => string[] {
  let rest = '';
  let endedInCr = false;
  return (text) => {
    if (text === '') return [];
    // A CR at the end of a piece ended its line; an LF right after it belongs to it.
    const added = endedInCr && text.startsWith('\n') ? text.slice(1) : text;
    endedInCr = text.endsWith('\r');
    const lines = (rest + added).split(/\r\n|\n|\r/);
    rest = lines.pop() ?? '';
    return lines;
  };
}

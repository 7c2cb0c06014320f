export interface ServerSentEvent {
  event: string;
  data: any;
}

/** The events of a whole answer. @throws when it is anything but events. */
export function eventsIn(text: string): ServerSentEvent[] {
  const blocks = text.split('\n\n');
  if (blocks.pop() !== '') throw new Error('the last event is not whole');
  return blocks.map((block) => {
    const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(block)!;
    return { event: event!, data: JSON.parse(data!) };
  });
}

export function lastEvent(text: string): ServerSentEvent {
  return eventsIn(text).at(-1)!;
}

import { request as sendHttp } from 'node:http';
import type { ModelEvent } from '../../shared/model/contract.ts';

export interface Exchange {
  status: number;
  contentType: string | undefined;
  events: ModelEvent[];
  /** Milliseconds from the request to each event. */
  times: number[];
  closing: ModelEvent | undefined;
  /** Whether the answer came to its end; it did not when somebody hung up. */
  whole: boolean;
}

export interface Watcher {
  /** Hears each event as it comes; `hangUp` destroys the connection. */
  onEvent?(event: ModelEvent, hangUp: () => void): void;
}

/**
 * Posts a body to /invocations and reads the events as they come, until the answer ends or is hung up on. Text and
 * bytes are sent as they are.
 */
export function invoke(url: string, body: unknown, { onEvent }: Watcher = {}): Promise<Exchange> {
  const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const request = sendHttp(`${url}/invocations`, { method: 'POST', agent: false });
    request.on('error', reject);
    request.on('response', (response) => {
      const exchange: Exchange = {
        status: response.statusCode ?? 0,
        contentType: response.headers['content-type'],
        events: [],
        times: [],
        closing: undefined,
        whole: false,
      };
      let rest = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        const lines = (rest + piece).split('\n');
        rest = lines.pop()!;
        for (const line of lines) {
          const event = JSON.parse(line) as ModelEvent;
          exchange.events.push(event);
          exchange.times.push(performance.now() - start);
          onEvent?.(event, () => request.destroy());
        }
      });
      const end = (): void => {
        exchange.closing = exchange.events.at(-1);
        exchange.whole = response.complete && rest === '';
        resolve(exchange);
      };
      response.on('end', end);
      response.on('error', end);
      response.on('close', end);
    });
    request.end(text);
  });
}

/** The events that may close an answer. */
export function closings({ events }: Exchange): ModelEvent[] {
  return events.filter(({ event }) => event === 'completed' || event === 'failed' || event === 'ready');
}

/** How far each report of progress was, in their order. */
export function stepsOf({ events }: Exchange): number[] {
  return events.flatMap((event) => (event.event === 'progress' ? [event.step] : []));
}

export function inMs(milliseconds: number): string {
  return new Date(Date.now() + milliseconds).toISOString();
}

import { describe, expect, test } from '@jest/globals';
import type { ApiRequest } from '../../../shared/http/request.ts';
import { webAnswer, webRequest } from '../../../shared/http/web-exchange.ts';

const requestWith = (headers: Record<string, string[]> = {}) =>
  ({ method: 'POST', headers: new Map(Object.entries(headers)), background: [] }) as unknown as ApiRequest;

describe('a request for a library', () => {
  test('has the headers that are named, and never the credentials', () => {
    const sent = {
      authorization: ['Bearer svc_live_x'],
      accept: ['*/*'],
      'mcp-name': ['generate'],
      'content-type': ['text/plain'],
      cookie: ['a=1'],
    };
    const { headers, method } = webRequest(requestWith(sent), /^mcp-/);
    expect(method).toBe('POST');
    expect(Object.fromEntries(headers)).toEqual({
      accept: 'application/json, text/event-stream',
      'mcp-name': 'generate',
      'content-type': 'application/json',
    });
  });

  test('leaves out what no header may hold, and throws for nothing', () => {
    for (const value of ['\0', 'a\nb', 'é', '\u{1f600}', '\x7f']) {
      expect(webRequest(requestWith({ 'mcp-name': [value] }), /^mcp-/).headers.has('mcp-name')).toBe(false);
    }
  });
});

describe('the answer for its response', () => {
  const streamed = (source: ReadableStream) =>
    new Response(source, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } });

  test('is the JSON, with its status and with no header but Allow', async () => {
    const response = Response.json({ a: 1 }, { status: 405, headers: { allow: 'POST', 'x-note': 'x' } });
    expect(await webAnswer(requestWith(), response)).toEqual({
      status: 405,
      headers: { allow: 'POST' },
      body: { a: 1 },
    });
  });

  test('says nothing of JSON where there is no body', async () => {
    const { headers, body } = await webAnswer(requestWith(), new Response(null, { status: 202 }));
    expect([headers, body]).toEqual([{ 'content-type': 'text/plain' }, undefined]);
  });

  test('streams, and its function waits for the end of the source though the client has hung up', async () => {
    let source!: ReadableStreamDefaultController;
    const request = requestWith();
    const body = new ReadableStream({ start: (controller) => void (source = controller) });
    const { stream } = await webAnswer(request, streamed(body));
    source.enqueue(Buffer.from('one'));
    const [first] = await stream!.take(1).toArray();
    expect(String(first)).toBe('one');
    expect(stream!.destroyed).toBe(true);
    let ended = false;
    const waiting = Promise.all(request.background).then(() => (ended = true));
    source.enqueue(Buffer.from('two'));
    await new Promise(setImmediate);
    expect([request.background.length, ended]).toEqual([1, false]);
    source.close();
    await waiting;
  });

  test('waits for its reader, and for nobody once the reader has gone', async () => {
    for (const end of ['read', 'gone']) {
      let pulled = 0;
      const source = (async function* () {
        for (; pulled < 40; pulled++) yield Buffer.alloc(16 * 1024);
      })();
      const request = requestWith();
      const { stream } = await webAnswer(request, streamed(ReadableStream.from(source) as ReadableStream));
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(pulled).toBeLessThan(20);
      if (end === 'read') expect(Buffer.concat(await stream!.toArray())).toHaveLength(40 * 16 * 1024);
      else stream!.destroy();
      await Promise.all(request.background);
      expect([pulled, stream!.listenerCount('drain')]).toEqual([40, 0]);
    }
  });
});

import { expect, test } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import type { OutputPlace, Trouble } from './store.ts';
import type { World } from './world.ts';

const status =
  (code: number, headers = {}) =>
  (response: ServerResponse) => {
    response.writeHead(code, headers).end('<Error/>');
    return true;
  };
const cutOff = (response: ServerResponse): boolean => {
  response.destroy();
  return true;
};
const once =
  (trouble: (response: ServerResponse) => boolean): Trouble =>
  (response, attempt) =>
    attempt === 1 && trouble(response);

export function uploadCases(world: () => World): void {
  test.each([
    ['an error of the store', once(status(500))],
    ['a store that is busy', once(status(503))],
    ['a connection that breaks', once(cutOff)],
  ])('an image is put again after %s', async (_what, trouble) => {
    const place = await world().store.output(trouble);
    const { closing } = await world().ask({}, [place]);

    expect(closing).toMatchObject({ event: 'completed' });
    expect(place.attempts()).toBe(2);
    const { bytes } = (await place.read())!;
    expect(closing).toMatchObject({ outputs: [{ bytes: bytes.length }] });
  });

  test.each([
    ['a store that always fails', status(503)],
    ['connections that always break', cutOff],
  ])('after three times in vain, %s ends the request', async (_what, trouble) => {
    const place = await world().store.output(trouble);
    const { closing } = await world().ask({}, [place]);

    expect(closing).toMatchObject({ event: 'failed', reason: 'upload_failed' });
    expect(place.attempts()).toBe(3);
  });

  test.each<[string, () => Promise<OutputPlace>]>([
    ['refuses', () => world().store.output(status(403))],
    ['takes no such file', () => world().store.output(status(400))],
    [
      'leads elsewhere',
      async () => {
        const elsewhere = await world().store.output();
        return world().store.output(status(307, { location: elsewhere.url }));
      },
    ],
    [
      'was changed',
      async () => {
        const place = await world().store.output();
        return { ...place, url: place.url.replace(/(X-Amz-Signature=)../, '$100') };
      },
    ],
  ])('a link that %s ends the request at once', async (_what, open) => {
    const place = await open();
    const { closing } = await world().ask({}, [place]);

    expect(closing).toMatchObject({ event: 'failed', reason: 'upload_failed' });
    expect(place.attempts()).toBe(1);
    expect(await place.read()).toBeNull();
  });

  test('a link that has expired ends the request at once', async () => {
    const [place] = await world().outputs(1);
    world().store.advance(3_600_000);
    const { closing } = await world().ask({}, [place!]);
    world().store.advance(-3_600_000);

    expect(closing).toMatchObject({ event: 'failed', reason: 'upload_failed' });
    expect(place!.attempts()).toBe(1);
    expect(await place!.read()).toBeNull();
  });

  test('one refused link of several fails the whole request, and the next one is painted', async () => {
    const places = [await world().store.output(), await world().store.output(status(403))];
    const { closing } = await world().ask({}, places);

    expect(closing).toMatchObject({ event: 'failed', reason: 'upload_failed' });
    await world().paint({}, 2);
  });
}

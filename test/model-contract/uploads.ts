import { expect, test } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import type { ModelCompleted } from '../../shared/model/contract.ts';
import type { OutputPlace, Trouble } from './store.ts';
import type { Changes, ContractFixture } from './fixture.ts';

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

export function uploadCases(fixture: ContractFixture): void {
  test.each([
    ['an error of the store', once(status(500))],
    ['a store that is busy', once(status(503))],
    ['a connection that breaks', once(cutOff)],
  ])('an image is put again after %s', async (_what, trouble) => {
    const place = await fixture.store.output(trouble);
    const { closing } = await fixture.ask({}, [place]);

    expect(closing).toMatchObject({ event: 'completed' });
    expect(place.attempts()).toBe(2);
    const { bytes } = (await place.read())!;
    expect(closing).toMatchObject({ outputs: [{ bytes: bytes.length }] });
  });

  test.each([
    ['a store that always fails', status(503)],
    ['connections that always break', cutOff],
  ])('after three times in vain, %s ends the request', async (_what, trouble) => {
    const place = await fixture.store.output(trouble);
    const { closing } = await fixture.ask({}, [place]);

    expect(closing).toMatchObject({ event: 'failed', reason: 'upload_failed' });
    expect(place.attempts()).toBe(3);
  });

  test.each<[string, () => Promise<OutputPlace>]>([
    ['refuses', () => fixture.store.output(status(403))],
    ['takes no such file', () => fixture.store.output(status(400))],
    [
      'leads elsewhere',
      async () => {
        const elsewhere = await fixture.store.output();
        return fixture.store.output(status(307, { location: elsewhere.url }));
      },
    ],
    [
      'was changed',
      async () => {
        const place = await fixture.store.output();
        return { ...place, url: place.url.replace(/(X-Amz-Signature=)../, '$100') };
      },
    ],
  ])('a link that %s ends the request at once', async (_what, open) => {
    const place = await open();
    const { closing } = await fixture.ask({}, [place]);

    expect(closing).toMatchObject({ event: 'failed', reason: 'upload_failed' });
    expect(place.attempts()).toBe(1);
    expect(await place.read()).toBeNull();
  });

  test('a link that has expired ends the request at once', async () => {
    const [place] = await fixture.outputs(1);
    fixture.store.advance(3_600_000);
    const { closing } = await fixture.ask({}, [place!]);
    fixture.store.advance(-3_600_000);

    expect(closing).toMatchObject({ event: 'failed', reason: 'upload_failed' });
    expect(place!.attempts()).toBe(1);
    expect(await place!.read()).toBeNull();
  });

  test.each<[string, Trouble]>([
    ['is refused', status(403)],
    ['always fails', status(503)],
    ['breaks', cutOff],
    ['is never answered', () => true],
  ])('a preview whose link %s is left out, and the request completes', async (_what, previewTrouble) => {
    const places = [await fixture.store.output(), await fixture.store.output(undefined, { previewTrouble })];
    const { closing } = await fixture.ask({}, places);

    const [one, other] = (closing as ModelCompleted).outputs;
    expect(one!.previewBytes).toBe((await places[0]!.preview.read())!.bytes.length);
    expect(other!.previewBytes ?? null).toBeNull();
    expect(places[1]!.preview.attempts()).toBeGreaterThan(0);
    expect(await places[1]!.preview.read()).toBeNull();
    expect((await places[1]!.read())!.bytes.length).toBe(other!.bytes);
  });

  test('no preview is made for a service that gives no link for it', async () => {
    const [place] = await fixture.outputs(1);
    const { closing } = await fixture.ask({ outputs: [{ putUrl: place!.url }] } as Changes, [place!]);

    expect((closing as ModelCompleted).outputs[0]!.previewBytes ?? null).toBeNull();
    expect(await place!.preview.read()).toBeNull();
  });

  test('one refused link of several fails the whole request, and the next one is painted', async () => {
    const places = [await fixture.store.output(), await fixture.store.output(status(403))];
    const { closing } = await fixture.ask({}, places);

    expect(closing).toMatchObject({ event: 'failed', reason: 'upload_failed' });
    await fixture.paint({}, 2);
  });
}

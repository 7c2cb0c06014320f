import { expect, test } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import type { ModelCompleted } from '../../shared/model/contract.ts';
import { refusing, type OutputPlace, type Trouble } from './store.ts';
import type { Changes, ContractFixture } from './fixture.ts';

const cutOff = (response: ServerResponse): boolean => {
  response.destroy();
  return true;
};
const once =
  (trouble: Trouble): Trouble =>
  (response, attempt) =>
    attempt === 1 && trouble(response, attempt);

export function uploadCases(fixture: ContractFixture): void {
  test.each([
    ['an error of the store', once(refusing(500))],
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
    ['a store that always fails', refusing(503)],
    ['connections that always break', cutOff],
  ])('after three times in vain, %s ends the request', async (_what, trouble) => {
    const place = await fixture.store.output(trouble);
    const { closing } = await fixture.ask({}, [place]);

    expect(closing).toMatchObject({ event: 'failed', reason: 'upload_failed' });
    expect(place.attempts()).toBe(3);
  });

  const changed = (place: OutputPlace): OutputPlace => ({
    ...place,
    url: place.url.replace(/(X-Amz-Signature=)../, '$100'),
  });
  test.each<[string, open: (elsewhere: OutputPlace) => Promise<OutputPlace>, laterMs?: number]>([
    ['refuses', () => fixture.store.output(refusing(403))],
    ['takes no such file', () => fixture.store.output(refusing(400))],
    ['leads elsewhere', ({ url }) => fixture.store.output(refusing(307, { location: url }))],
    ['was changed', async (place) => changed(place)],
    ['has expired', async (place) => place, 3_600_000],
  ])('a link that %s ends the request at once', async (_what, open, laterMs = 0) => {
    const place = await open(await fixture.store.output());
    fixture.store.advance(laterMs);
    const { closing } = await fixture.ask({}, [place]);
    fixture.store.advance(-laterMs);

    expect(closing).toMatchObject({ event: 'failed', reason: 'upload_failed' });
    expect(place.attempts()).toBe(1);
    expect(await place.read()).toBeNull();
  });

  test.each<[string, Trouble]>([
    ['is refused', refusing(403)],
    ['always fails', refusing(503)],
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

  test('one refused link of several fails the whole request, and the next one completes', async () => {
    const places = [await fixture.store.output(), await fixture.store.output(refusing(403))];
    const { closing } = await fixture.ask({}, places);

    expect(closing).toMatchObject({ event: 'failed', reason: 'upload_failed' });
    await fixture.generate({}, 2);
  });
}

import { afterEach, describe, expect, test } from '@jest/globals';
import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import type { ModelRequest } from '../../../shared/model/contract.ts';
import { deletionStore } from '../../../shared/generations/deletion-store.ts';
import { acceptGeneration } from '../../../shared/generations/create.ts';
import { beginDeletion, erase } from '../../../shared/generations/delete.ts';
import { allRights } from '../../../shared/keys/rights.ts';
import { newDeletion, type Deletion } from '../../../shared/generations/deletion.ts';
import { sweep } from '../../../shared/generations/sweep.ts';
import { allItems } from '../../support/table-scan.ts';
import { newCommand, putOutputs, run, says, stored } from './fixture.ts';
import { useEngines } from './use-engines.ts';

// The http tests hold what a caller sees. These hold what a crash, a late image and a bucket that is away leave behind.

const fixture = useEngines();

const depsOf = () => ({ ...fixture.deps, deletions: deletionStore(fixture.table) });
const sweepNow = () => sweep(depsOf(), fixture.clock.now());

/** A request that has ended, and what its container was asked for. */
async function ended(outcome: 'COMPLETED' | 'FAILED') {
  const command = newCommand(fixture, { body: { ...newCommand(fixture).body, prompt: 'a secret bay' } });
  const asked: ModelRequest[] = [];
  const { behaviour } = fixture.container.state;
  const fails = says({ event: 'failed', reason: 'model_error', message: '' });
  fixture.container.state.behaviour = (request, res) => {
    asked.push(request);
    return (outcome === 'COMPLETED' ? behaviour : fails)(request, res);
  };
  await run(command, fixture.deps);
  fixture.container.state.behaviour = behaviour;
  expect((await stored(fixture, command)).generation?.status).toBe(outcome);
  const { licenseId } = command.license;
  const keys = async () => {
    const client = new S3Client({});
    const list = new ListObjectsV2Command({
      Bucket: 'image-generation',
      Prefix: `generations/${licenseId}/`,
    });
    return ((await client.send(list)).Contents ?? []).map(({ Key }) => Key);
  };
  const items = async () => {
    const prefixes = [`GEN#${licenseId}`, `DELETION#${licenseId}`];
    return (await allItems(fixture.table)).filter(({ PK }) => prefixes.includes(PK));
  };
  const remove = async () =>
    erase(await beginDeletion(command.requestId, [licenseId], allRights, depsOf()), depsOf());
  return { command, request: asked[0]!, keys, items, remove };
}

const notFound = { code: 'REQUEST_NOT_FOUND' };
const linksEnd = () => (fixture.clock.shiftMs += (fixture.deps.deadlineSeconds + 121) * 1000);

// What a test left is no other's.
afterEach(async () => {
  linksEnd();
  await sweepNow();
});

describe('a deletion', () => {
  test('of what no link can bring back leaves nothing at all', async () => {
    const one = await ended('COMPLETED');
    expect(await one.keys()).toHaveLength(4);
    linksEnd();
    expect(await one.remove()).toBe(true);
    expect([await one.keys(), await one.items()]).toEqual([[], []]);
  });

  test('waits where a link may still bring an image, says nothing of what was asked for, and is not found', async () => {
    const one = await ended('COMPLETED');
    expect(await one.remove()).toBe(false);
    const [item, ...others] = await one.items();
    expect(others).toEqual([]);
    expect(item!.PK).toMatch(/^DELETION#/);
    expect(JSON.stringify(item)).not.toContain('secret');
    await expect(one.remove()).rejects.toMatchObject(notFound);
    expect(await sweepNow()).toMatchObject({ erased: 0, failed: 0 });
    expect(await one.items()).toEqual([item]);
  });

  test('takes the images too that came after it, once their links are dead', async () => {
    const one = await ended('FAILED');
    await one.remove();
    // The container goes on with what was given up.
    await putOutputs(one.request);
    expect(await one.keys()).toHaveLength(4);
    await sweepNow();
    expect(await one.keys()).toHaveLength(4);
    linksEnd();
    expect(await sweepNow()).toMatchObject({ erased: 1, failed: 0 });
    expect([await one.keys(), await one.items()]).toEqual([[], []]);
  });

  test('that died after the table is gone on with by the same call, or by the sweep after a minute', async () => {
    for (const goOn of ['call', 'sweep'] as const) {
      const one = await ended('COMPLETED');
      const { requestId, license } = one.command;
      await beginDeletion(requestId, [license.licenseId], allRights, depsOf());
      expect((await stored(fixture, one.command)).generation).toBeNull();
      expect(await one.keys()).toHaveLength(4);
      await sweepNow();
      expect(await one.keys()).toHaveLength(4);
      if (goOn === 'call') await one.remove();
      else {
        fixture.clock.shiftMs += 61_000;
        expect(await sweepNow()).toMatchObject({ failed: 0 });
      }
      expect(await one.keys()).toEqual([]);
      await expect(one.remove()).rejects.toMatchObject(notFound);
      linksEnd();
      await sweepNow();
      expect(await one.items()).toEqual([]);
    }
  });

  test('that can not erase is not over: the sweep counts it, logs its cause, and goes on with others', async () => {
    const [one, other] = [await ended('COMPLETED'), await ended('COMPLETED')];
    let deletion: Deletion;
    for (const { command } of [other, one])
      deletion = await beginDeletion(command.requestId, [command.license.licenseId], allRights, depsOf());
    linksEnd();
    const { objects } = fixture.deps;
    const deps = {
      ...depsOf(),
      objects: {
        ...objects,
        deleteImages: (...[of, signal]: Parameters<typeof objects.deleteImages>) =>
          of.requestId === one.command.requestId
            ? Promise.reject(new Error('the bucket is away'))
            : objects.deleteImages(of, signal),
      },
    };
    await expect(erase(deletion!, deps)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    fixture.faults.length = 0;
    expect(await sweep(deps, fixture.clock.now())).toMatchObject({ erased: 1, failed: 1 });
    const causes = fixture.faults.map(({ requestId, what, error }) => [requestId, what, error.cause.message]);
    const what = 'a deleted request was not erased';
    expect(causes).toEqual([[one.command.requestId, what, 'the bucket is away']]);
    expect([(await one.keys()).length, (await other.keys()).length]).toEqual([4, 0]);
    expect(await sweepNow()).toMatchObject({ erased: 1, failed: 0 });
  });

  test('leaves a tombstone before its record is touched, and deletes nothing where the bucket takes none', async () => {
    const one = await ended('COMPLETED');
    const { requestId, license } = one.command;
    const { licenseId } = license;
    const begin = (putTombstone: () => Promise<void>) => {
      const deps = { ...depsOf(), objects: { ...fixture.deps.objects, putTombstone } };
      return beginDeletion(requestId, [licenseId], allRights, deps);
    };
    const [record] = await one.items();
    const refused = begin(() => Promise.reject(new Error('the bucket is away')));
    await expect(refused).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect([(await one.keys()).length, await one.items()]).toEqual([4, [record]]);
    const before: unknown[] = [];
    await begin(async () => void before.push(...(await one.items())));
    expect(before).toEqual([record]);
    await one.remove();
  });

  test('begins for a request that has ended and is still kept', async () => {
    const running = newCommand(fixture);
    const begin = ({ requestId, license }: typeof running) =>
      beginDeletion(requestId, [license.licenseId], allRights, depsOf());
    await acceptGeneration(running, fixture.deps);
    await expect(begin(running)).rejects.toMatchObject({
      code: 'REQUEST_IN_PROGRESS',
      message: 'This request is still running. Delete it once it has ended.',
    });
    await expect(
      beginDeletion('no id', [running.license.licenseId], allRights, depsOf()),
    ).rejects.toMatchObject(notFound);
    const { command } = await ended('COMPLETED');
    const { expiresAtMs } = (await stored(fixture, command)).generation!;
    const deps = { ...depsOf(), clock: { ...fixture.clock, now: () => expiresAtMs } };
    const { requestId, license } = command;
    await expect(beginDeletion(requestId, [license.licenseId], allRights, deps)).rejects.toMatchObject(
      notFound,
    );
    deps.clock.now = () => expiresAtMs - 1;
    expect(await beginDeletion(requestId, [license.licenseId], allRights, deps)).toMatchObject({ requestId });
  });

  test('is noted in the table also where another hand has ended it, or the request is gone; a fault is thrown', async () => {
    const { command } = await ended('COMPLETED');
    const { requestId, license } = command;
    const { deletions } = depsOf();
    const { generation } = await stored(fixture, command);
    const deletion = newDeletion(generation!);
    const begun = await Promise.all([1, 2].map(() => deletions.begin(deletion, 0)));
    expect(begun.toSorted()).toEqual([false, true]);
    expect(await deletions.get({ licenseId: license.licenseId, requestId })).toEqual(deletion);
    await deletions.remove(deletion);
    await deletions.noteErased(deletion);
    expect(await deletions.get(deletion)).toBeNull();
    const { table } = fixture;
    const away = deletionStore({
      ...table,
      client: { send: () => Promise.reject(new Error('away')) },
    } as any);
    await expect(away.noteErased(deletion)).rejects.toThrow('away');
  });

  test('finds a request among many licenses, and its deletion there', async () => {
    const one = await ended('COMPLETED');
    const { requestId, license } = one.command;
    const licenseIds = Array.from({ length: 130 }, (_, i) => `lic_other_${i}`);
    const deps = depsOf();
    const deletion = await beginDeletion(requestId, [...licenseIds, license.licenseId], allRights, deps);
    expect(await beginDeletion(requestId, [...licenseIds, license.licenseId], allRights, deps)).toEqual(
      deletion,
    );
    await expect(beginDeletion(requestId, licenseIds, allRights, deps)).rejects.toMatchObject(notFound);
    // Nor does a key go on with the deletion of what it may not delete.
    const rights = { reads: null, deletes: 'key_another' };
    await expect(beginDeletion(requestId, [license.licenseId], rights, deps)).rejects.toMatchObject(notFound);
    await erase(deletion, deps);
  });
});

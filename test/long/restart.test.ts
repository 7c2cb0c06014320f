import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { objectStore } from '../../shared/images/object-store.ts';
import { putLink } from '../../shared/images/signed-links.ts';
import { expectOk } from '../support/answers.ts';
import { end, endCommands, startOn, type CommandService } from '../support/command.ts';
import { expectWholeDemo } from '../support/demo.ts';
import { freePort } from '../support/free-port.ts';
import { grant } from '../support/grants.ts';
import { copiesOf } from '../support/objects.ts';
import { expectCharged, fixedTableOf, periodTotals, reserveAbandoned } from '../support/period-totals.ts';
import { openImage } from '../support/png.ts';
import { generate, newestWith, stored } from '../support/requests.ts';
import { removeFolder, temporaryFolder } from '../support/service.ts';
import { sessionOf } from '../support/sessions.ts';
import { pause, until } from '../support/until.ts';

const dataDir = temporaryFolder();

afterAll(async () => {
  await endCommands();
  removeFolder(dataDir);
});

describe('a second start finds everything where it was', () => {
  let port: string;
  let first: CommandService;
  let second: CommandService;
  let before: any;
  let link: string;
  let image: Buffer;
  let session: string;

  beforeAll(async () => {
    port = String(await freePort());
    first = await startOn(dataDir, '--port', port);
    const { identities, keys } = first.ready;
    const answer = await generate(first, keys.starter!, { identityId: identities.aurora, seed: 5 });
    link = answer.body.outputs[0];
    image = await openImage(link);
    before = await stored(first, keys.starter!, answer.body.requestId);
    session = await sessionOf(first.dataDir);
    await end(first);
    second = await startOn(dataDir, '--port', port);
  });

  test('the ids and keys of the demo data, its accounts and their passwords', () => {
    expect(second.ready).toEqual(first.ready);
    expect(Object.keys(second.ready.accounts)).toHaveLength(3);
  });

  test('a session that began before, with what it could see then', async () => {
    const { status, body } = await second.api({ path: '/licenses', key: session });
    const { stranger: theirs, ...owners } = first.ready.licenses;
    expect([status, body.licenses.length]).toEqual([200, Object.keys(owners).length]);
    const history = `/generate?licenseId=${owners.starter}`;
    const { body: list } = await second.api({ path: history, key: session });
    expect(list.generations.at(-1).id).toBe(before.id);
    expect((await second.api({ path: `/usage?licenseId=${theirs}`, key: session })).status).toBe(404);
  });

  test('stored requests, every member but the signatures of their links, and the links to the same bytes', async () => {
    const bare = (url: string) => url.split('?')[0];
    const unsigned = (record: any) => ({
      ...record,
      outputUrl: bare(record.outputUrl),
      outputs: record.outputs.map(bare),
    });
    const after = await stored(second, second.ready.keys.starter!, before.id);
    expect(unsigned(after)).toEqual(unsigned(before));
    expect((await openImage(link)).equals(image)).toBe(true);
  });

  test('credits that were used before', async () => {
    const { keys, identities } = second.ready;
    const answer = await generate(second, keys.starter!, { identityId: identities.basalt });
    expect(answer.body.usage).toMatchObject({ creditsUsed: 2, creditsRemaining: 498, creditsCharged: 1 });
    const spent = await generate(second, keys['nearly-spent']!, { identityId: identities.basalt });
    expect(spent.body.usage).toMatchObject({ creditsUsed: 499, creditsRemaining: 1 });
  });

  test('unless it was started with --fresh: other ids, keys and passwords, old ones refused, old links dead', async () => {
    await end(second);
    const notOurs = join(dataDir, 'notes.txt');
    writeFileSync(notOurs, 'mine');
    const third = await startOn(dataDir, '--port', port, '--fresh');
    for (const kind of ['identities', 'licenses', 'keys'] as const) {
      const old = new Set(Object.values(first.ready[kind]));
      expect(Object.values(third.ready[kind]).filter((value) => old.has(value))).toEqual([]);
    }
    const refused = await third.api({ path: '/identities', key: first.ready.keys.pro });
    expect([refused.status, refused.body.code]).toEqual([401, 'INVALID_API_KEY']);
    for (const path of ['/licenses', '/keys', '/generate', '/identities']) {
      const ended = await third.api({ path, key: session });
      expect([path, ended.status, ended.body.code]).toEqual([path, 401, 'INVALID_SESSION']);
    }
    expect((await third.api({ path: '/licenses', key: await sessionOf(dataDir) })).status).toBe(200);
    const passwords = ({ ready }: CommandService) =>
      Object.values(ready.accounts).map(({ password }) => password);
    expect(passwords(third).filter((password) => passwords(first).includes(password))).toEqual([]);
    const list = await third.api({ path: '/generate', key: third.ready.keys.starter });
    expect(list.body).toEqual({ generations: [], nextCursor: null, searchedBackTo: null });
    expect((await fetch(link)).status).toBe(403);
    // The same seed gives the same picture, whatever the identity's id is.
    const { keys, identities } = third.ready;
    const again = await generate(third, keys.pro!, { identityId: identities.aurora, seed: 5 });
    expect((await openImage(again.body.outputs[0])).equals(image)).toBe(true);
    expect(readFileSync(notOurs, 'utf8')).toBe('mine');
    await end(third);
  });
});

describe('a service that was left at once', () => {
  test('by a second Ctrl-C: the next start ends what was PROCESSING or QUEUED, and nothing is held or left', async () => {
    const service = await startOn(dataDir, '--grace', '450');
    const table = await fixedTableOf(dataDir);
    const [running, waiting] = [await grant(table), await grant(table)];
    const { glacier, aurora } = service.ready.identities;
    const headers = { 'idempotency-key': 'order-7' };
    const sent = generate(service, running.key, { identityId: glacier }, headers).catch(() => 'broken off');
    const processing = await newestWith(service, running.key, ['PROCESSING']);
    const queued = await reserveAbandoned(table, waiting.license, {
      identityId: aurora!,
      referenceImages: 1,
    });
    const copy = await objectStore('image-generation').referencePutLink(queued, 0);
    await putLink(copy, Buffer.from('a picture'), AbortSignal.timeout(60_000));
    expect(copiesOf(dataDir, waiting.license)).toHaveLength(1);
    expect((await stored(service, waiting.key, queued.requestId)).status).toBe('QUEUED');
    expect(await periodTotals(table, running.license)).toEqual({ used: 0, committed: 1 });

    // Two signals at once count once: npm passes on what the terminal has sent already.
    service.command.signal('SIGINT');
    service.command.signal('SIGTERM');
    await until('it stops', () => service.command.stdout().includes('Stopping'));
    await pause(600);
    expect(service.command.hasEnded()).toBe(false);
    service.command.signal('SIGINT');
    expect([await sent, await service.command.ended]).toEqual(['broken off', 130]);

    const next = await startOn(dataDir);
    const nextTable = await fixedTableOf(dataDir);
    const held = [
      { ...running, id: processing },
      { ...waiting, id: queued.requestId },
    ];
    for (const { key, license, id } of held) {
      expect(await newestWith(next, key, ['TIMEOUT', 'FAILED'])).toBe(id);
      const record = await stored(next, key, id);
      expect(record).toMatchObject({ outputUrl: null, creditsCharged: 0 });
      expect(record.errorMessage).toMatch(/^\S.*\.$/);
      await expectCharged(nextTable, license, 0);
    }
    expect(copiesOf(dataDir, waiting.license)).toEqual([]);
    const again = await generate(next, running.key, { identityId: aurora }, headers);
    expectOk(again);
    expect(again.body.requestId).not.toBe(processing);
    await expectCharged(nextTable, running.license, 1);
    await end(next);
  });

  test('just before it noted that its first demo data is whole: the next start makes it anew', async () => {
    const path = join(dataDir, 'service.json');
    const file = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify({ ...file, demo: null }));
    const service = await startOn(dataDir);
    expect(service.ready.keys.pro).not.toBe(file.demo.keys.pro);
    await expectWholeDemo(service);
    await end(service);
  });
});

import { createHash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { ModelRequest } from '../../shared/model/contract.ts';
import { runHere } from '../engine/admin/fixture.ts';
import { deliver, startContainer } from '../fuzz/quick-container.ts';
import { adapterCases, writeAdapter } from '../support/adapter-files.ts';
import { keepService } from '../support/fixture.ts';
import { useFixture } from '../support/use-fixture.ts';
import { newAccount } from './fixture.ts';

/** What the model container was told of the identity, and the SHA-256 of the file behind the link. */
const seen: { identity: ModelRequest['identity']; sha256: string }[] = [];

const service = useFixture(async (keep) => {
  const container = keep(
    await startContainer(async (request, res) => {
      const file = Buffer.from(await (await fetch(request.identity.adapterUrl!)).arrayBuffer());
      seen.push({ identity: request.identity, sha256: createHash('sha256').update(file).digest('hex') });
      await deliver(request, res);
    }),
  );
  return keepService(keep, { args: ['--container', container.url] });
});

test('from a file to the first image in one command', async () => {
  const { metadata, ...of } = adapterCases.good.find(({ name }) => name.startsWith("LyCORIS' LoHa"))!;
  const folder = mkdtempSync(join(service.dataDir, 'file-'));
  const path = writeAdapter(folder, 'ink', { ...of, metadata: metadata! });
  const run = await runHere([
    '--data',
    service.dataDir,
    'identity',
    'create',
    'ink',
    '--adapter',
    path,
    '--json',
  ]);
  expect(run).toMatchObject({ code: 0, stderr: '' });
  const { identityId } = JSON.parse(run.stdout) as { identityId: string };

  const account = await newAccount({ foundingCatalog: false, identityIds: [identityId] }, service);
  expect((await account.generate({ identityId })).status).toBe(200);
  const [{ identity, sha256 }] = seen as [(typeof seen)[number]];
  expect(identity).toMatchObject({ id: identityId, adapterVersion: 'version:1', adapterSha256: sha256 });
});

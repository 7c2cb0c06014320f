import { expect, test } from '@jest/globals';
import type { ServiceError } from '../../shared/base/errors.ts';
import { acceptGeneration, finishGeneration } from '../../shared/generations/create.ts';
import { readCommand } from '../../shared/http/generation-request.ts';
import { identityStore } from '../../shared/identities/store.ts';
import { activeVersion } from '../../shared/identities/version.ts';
import { deliver, newCommand } from '../engine/generations/fixture.ts';
import { useEngines } from '../engine/generations/use-engines.ts';
import { sampleIdentity } from '../support/unit-samples.ts';

const fixture = useEngines();
const requests = 1000;
const atOnce = 20;
const versions = [1, 2, 3];

test('while versions are activated, retired and taken down, each record tells the version that made it', async () => {
  const identities = identityStore(fixture.table);
  const { identityId } = sampleIdentity;
  const stored = versions.map((number) => ({ ...activeVersion(sampleIdentity)!, number }));
  await identities.change(identityId, () => ({
    identity: { ...sampleIdentity, lastVersion: 3 },
    versions: stored,
  }));
  const madeBy = new Map<string, number>();
  fixture.container.state.behaviour = (request, res) => {
    madeBy.set(request.requestId, request.identity.version);
    return deliver(request, res);
  };

  const sent = { count: 0 };
  const codes: Record<string, number> = {};
  const records: { requestId: string; licenseId: string; pinned: number | null }[] = [];
  const send = async (pinned: number | null): Promise<void> => {
    const { requestId, keyId, license } = newCommand(fixture);
    const body = {
      identityId: sampleIdentity.slug,
      prompt: 'x',
      width: 512,
      height: 512,
      identityVersion: pinned,
    };
    const request = { requestId, rawBody: JSON.stringify(body), query: new Map(), headers: new Map() };
    const by = { callerId: keyId, keyBudget: null, keyMaxInFlight: null, license, body };
    const command = await readCommand(request, by, { table: fixture.table, identities });
    try {
      const accepted = await acceptGeneration(command, fixture.deps);
      if (accepted.outcome === 'replayed') throw new Error('it has no idempotency key');
      await finishGeneration(accepted, license, {}, fixture.deps);
      codes.made = (codes.made ?? 0) + 1;
      records.push({ requestId, licenseId: license.licenseId, pinned });
    } catch (error) {
      const { code } = error as ServiceError;
      codes[code] = (codes[code] ?? 0) + 1;
    }
  };
  const caller = async (number: number): Promise<void> => {
    while (sent.count < requests) {
      sent.count += 1;
      await send([null, ...versions][(sent.count + number) % 4]!);
    }
  };
  const operator = async (): Promise<void> => {
    for (let i = 0; sent.count < requests; i++) {
      const active = versions[i % 3]!;
      const other = stored[(i + 1) % 3]!;
      await identities.change(identityId, (before) => ({
        identity: {
          ...before!,
          model: i % 5 === 4 ? null : { ...stored[active - 1]!, number: active },
          withdrawn: i % 7 === 6 ? { atMs: 1, reason: 'x', version: null } : null,
        },
        versions: [stored[active - 1]!, { ...other, retiresAtMs: i % 2 === 0 ? 1 : null }],
      }));
    }
  };
  await Promise.all([operator(), ...Array.from({ length: atOnce }, (_, i) => caller(i))]);

  for (const { requestId, licenseId, pinned } of records) {
    const record = await fixture.deps.generations.get(licenseId, requestId);
    expect(record?.identityVersion).toBe(madeBy.get(requestId));
    if (pinned !== null) expect(record?.identityVersion).toBe(pinned);
  }
  // All of it was met: what is refused costs nothing, and is refused for one of these reasons.
  const expected = ['IDENTITY_NOT_FOUND', 'IDENTITY_UNAVAILABLE', 'INVALID_PARAMETERS', 'made'];
  expect(Object.keys(codes).toSorted()).toEqual(expected);
  expect(new Set(records.map(({ requestId }) => madeBy.get(requestId)))).toEqual(new Set(versions));
}, 300_000);

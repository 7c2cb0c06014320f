import type { ObjectStore } from '../images/object-store.ts';
import type { AgentIdentityList, IdentityList, IdentitySample } from './contract.ts';
import type { Identity } from './identity.ts';
import type { License } from '../licenses/license.ts';
import { mayUse } from './identity.ts';
import { samplesPerIdentity, type Sample } from './sample.ts';
import type { IdentityCatalog } from './store.ts';

/** The identities that any of these licenses covers, with or without an active model, but for what was withdrawn. */
export async function usableIdentities(
  licenses: readonly License[],
  catalog: Pick<IdentityCatalog, 'list'>,
): Promise<Identity[]> {
  const identities = await catalog.list();
  return identities.filter(
    (identity) => identity.withdrawn === null && licenses.some((license) => mayUse(license, identity)),
  );
}

/** An identity as agents see it. */
export function agentIdentities(identities: readonly Identity[]): AgentIdentityList {
  return { identities: identities.map(factsOf) };
}

/** An identity as callers of GET /identities see it. */
export async function identityAnswers(
  identities: readonly Identity[],
  objects: Pick<ObjectStore, 'sampleLinks'>,
): Promise<IdentityList> {
  const most = samplesPerIdentity(identities.length);
  const answers = identities.map(async (identity) => {
    const shown = identity.samples.slice(0, most);
    const samples = await Promise.all(shown.map((sample) => sampleAnswer(identity, sample, objects)));
    return { ...factsOf(identity), samples };
  });
  return { identities: await Promise.all(answers) };
}

function factsOf({ identityId, name, slug, description, productPhotos, model }: Identity) {
  return { id: identityId, name, slug, description, productPhotos, available: model !== null };
}

async function sampleAnswer(
  { identityId }: Identity,
  { sampleId, widthPx, heightPx, prompt }: Sample,
  objects: Pick<ObjectStore, 'sampleLinks'>,
): Promise<IdentitySample> {
  const links = await objects.sampleLinks(identityId, sampleId);
  return { ...links, width: widthPx, height: heightPx, prompt };
}

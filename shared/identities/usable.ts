import type { ObjectStore } from '../images/object-store.ts';
import { isoTime } from '../base/clock.ts';
import type {
  AgentIdentityList,
  IdentityAnswer,
  IdentityDetail,
  IdentityList,
  IdentitySample,
} from './contract.ts';
import type { Identity } from './identity.ts';
import type { License } from '../licenses/license.ts';
import { mayUse } from './identity.ts';
import { maxSamples, samplesPerIdentity, type Sample } from './sample.ts';
import type { IdentityCatalog } from './store.ts';
import { activeVersion, noRights, noWords, type StoredVersion } from './version.ts';

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

/** Identities as callers of GET /identities see them. */
export async function identityAnswers(
  identities: readonly Identity[],
  objects: SampleLinks,
): Promise<IdentityList> {
  const most = samplesPerIdentity(identities.length);
  return {
    identities: await Promise.all(identities.map((identity) => answerOf(identity, most, objects))),
  };
}

/** An identity as callers of GET /identities/{identityId} see it. @param versions newest first */
export async function identityDetail(
  identity: Identity,
  versions: readonly StoredVersion[],
  objects: SampleLinks,
  nowMs: number,
): Promise<IdentityDetail> {
  const active = activeVersion(identity);
  const isMissing = active !== null && versions.every(({ number }) => number !== active.number);
  const all = isMissing ? [active, ...versions] : versions;
  const usable = all.filter(({ retiresAtMs }) => retiresAtMs === null || nowMs < retiresAtMs);
  const answers = usable.slice(0, maxVersionsPerAnswer).map(async (version) => ({
    version: version.number,
    active: version.number === active?.number,
    createdAt: isoTime(version.createdAtMs),
    note: version.note,
    retiresAt: isoTime(version.retiresAtMs),
    samples: await samplesOf(identity, version.samples, objects),
  }));
  return { ...(await answerOf(identity, maxSamples, objects)), versions: await Promise.all(answers) };
}

/** A page of them fits into an answer. */
const maxVersionsPerAnswer = 100;

async function answerOf(identity: Identity, most: number, objects: SampleLinks): Promise<IdentityAnswer> {
  const samples = await samplesOf(identity, identity.samples.slice(0, most), objects);
  return { ...factsOf(identity), samples };
}

type SampleLinks = Pick<ObjectStore, 'sampleLinks'>;

function factsOf({ identityId, name, slug, description, productPhotos, model }: Identity) {
  const { triggerWords, showsTriggerWords, sizePx } = model?.words ?? noWords;
  const { license, source } = model?.rights ?? noRights;
  return {
    id: identityId,
    name,
    slug,
    description,
    productPhotos,
    available: model !== null,
    version: model?.number ?? null,
    triggerWords: showsTriggerWords ? triggerWords : [],
    defaultSize: sizePx ?? { width: 1024, height: 1024 },
    license,
    source,
  };
}

function samplesOf(
  { identityId }: Identity,
  samples: readonly Sample[],
  objects: SampleLinks,
): Promise<IdentitySample[]> {
  const answers = samples.map(async ({ sampleId, widthPx, heightPx, prompt }) => {
    const links = await objects.sampleLinks(identityId, sampleId);
    return { ...links, width: widthPx, height: heightPx, prompt };
  });
  return Promise.all(answers);
}

import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { DeleteObjectCommand, paginateListObjectsV2, type S3Client } from '@aws-sdk/client-s3';
import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { accountCallerId } from '../../shared/base/ids.ts';
import type { GenerationAnswer } from '../../shared/generations/answer-contract.ts';
import type { Identity } from '../../shared/identities/identity.ts';
import { issueApiKey } from '../../shared/keys/manage.ts';
import type { License } from '../../shared/licenses/license.ts';
import { newLicense } from '../../shared/licenses/new-license.ts';
import { itemKeys, type ItemKey } from '../../shared/table/keys.ts';
import { partitions } from '../../shared/table/schema.ts';
import { queryAll, type Item } from '../../shared/table/table.ts';
import { getIdentity } from '../admin/get-identity.ts';
import { newIdentity } from '../admin/identity-change.ts';
import { Failure } from '../common/failure.ts';
import { counted } from '../common/output.ts';
import type { Stores } from '../common/stores.ts';
import type { SmokePlace } from './place.ts';

/** What the checks use and share. All of it is removed afterwards, except an identity that existed before. */
export interface SmokeFixture {
  place: SmokePlace;
  stores: Stores;
  s3: S3Client;
  identity: Identity;
  /** Whether the identity was made for this run. */
  ownsIdentity: boolean;
  license: License;
  /** Once it is issued. */
  issued?: Awaited<ReturnType<typeof issueApiKey>>;
  /** The generated image, once there is one. */
  image?: GenerationAnswer;
}

/** Chooses all ids before anything is made, so that everything can be found and removed. @throws Failure */
export async function planFixture(
  clients: Pick<SmokeFixture, 'place' | 'stores' | 's3'>,
  identityId: string | undefined,
): Promise<SmokeFixture> {
  const name = `smoke-${randomBytes(8).toString('hex')}`;
  const ownsIdentity = identityId === undefined;
  const identity = ownsIdentity ? temporaryIdentity(name) : await getIdentity(clients, identityId);
  if (identity.model === null) throw new Failure(`The identity ${identityId} has no active model.`);
  // More credits than the checks may spend, and few.
  const credits = { tier: 'starter', creditsLimit: 5 } as const;
  const license = newLicense({ ownerId: name, ...credits, identityIds: [identity.identityId] }, Date.now());
  return { ...clients, identity, ownsIdentity, license };
}

/** Of the specialist catalog: no license but the temporary one lists it, so nobody else ever sees it. */
function temporaryIdentity(name: string): Identity {
  const shown = { name, slug: name, description: 'Checks a deployment and is removed afterwards.' };
  return newIdentity({ ...shown, catalog: 'specialist', productPhotos: true, model: true }, Date.now())
    .identity;
}

export async function makeFixture(fixture: SmokeFixture): Promise<void> {
  const { stores, identity, ownsIdentity, license } = fixture;
  const nowMs = Date.now();
  if (ownsIdentity) await stores.identities.put(identity, 'operator:smoke test');
  await stores.licenses.insert(license, 'operator:smoke test');
  const order = { license, name: 'smoke', expiresAtMs: nowMs + 3600 * 1000, monthlyCredits: null };
  fixture.issued = await issueApiKey(order, stores.apiKeys, nowMs);
}

const rounds = 3;
const pauseMs = 500;
/** How long a generation may still be settled or released after its deadline. */
const settleMs = 10_000;

/** Removes exactly what a run made and looks again until nothing is found. @throws Failure when something is left */
export async function removeFixture(fixture: SmokeFixture): Promise<void> {
  const { license, issued, stores, s3, place } = fixture;
  const { documents, name: TableName } = stores.table;
  const deleteItem = (Key: ItemKey) => documents.send(new DeleteCommand({ TableName, Key }));
  // The index may lag, but only it knows a key whose issue failed half-way.
  const listed = await stores.apiKeys.listByOwner(license.ownerId);
  const keyIds = [...new Set([...listed, ...(issued ? [issued.key] : [])].map(({ keyId }) => keyId))];
  // After revoking the keys nothing new begins. Running requests must end before everything can be removed.
  for (const keyId of keyIds) await deleteItem(itemKeys.apiKey(keyId));
  const runs = ({ status, deadlineMs }: Item) =>
    (status === 'QUEUED' || status === 'PROCESSING') && Date.now() < deadlineMs + settleMs;
  const { PK: generations } = itemKeys.generation(license.licenseId, '');
  while ((await itemsOf(stores, generations)).some(runs)) await pause(pauseMs);
  for (let round = 0; ; round++) {
    const [items, files] = [await itemsOfRun(fixture, keyIds), await filesOfRun(fixture)];
    if (items.length + files.length === 0) return;
    const left = `${counted(items.length, 'item')} and ${counted(files.length, 'file')} are left.`;
    if (round === rounds) throw new Failure(left);
    if (round > 0) await pause(pauseMs);
    for (const Key of files) await s3.send(new DeleteObjectCommand({ Bucket: place.bucketName, Key }));
    for (const { PK, SK } of items) await deleteItem({ PK, SK });
  }
}

/** Ids of what a run made, for removing it by hand. */
export function tracesOf({ identity, ownsIdentity, license }: SmokeFixture): string {
  const made = ownsIdentity ? ` and the identity ${identity.identityId}` : '';
  return `the license ${license.licenseId} of ${license.ownerId}${made}`;
}

/** In partitions of any kind whose name ends with an id of this run, and in those of all identities. */
async function itemsOfRun(fixture: SmokeFixture, keyIds: string[]): Promise<Item[]> {
  const { stores, identity, ownsIdentity, license } = fixture;
  const { licenseId, ownerId } = license;
  const ids = [licenseId, `LICENSE#${licenseId}`, accountCallerId(ownerId), ...keyIds];
  const ofRun = Object.values(partitions).flatMap(({ leadingKey }) => ids.map((id) => leadingKey + id));
  const { identityId, slug } = identity;
  const { PK: catalog } = itemKeys.identity(identityId);
  const ofIdentity = [
    itemKeys.identity(identityId),
    itemKeys.identityVersion(identityId, 1),
    itemKeys.slug(slug),
  ];
  const sortKeys = ofIdentity.map(({ SK }) => SK);
  const ofAll = ownsIdentity ? [catalog, itemKeys.identityAudit('').PK] : [];
  const items = await Promise.all([...ofRun, ...ofAll].map((partition) => itemsOf(stores, partition)));
  const isOfRun = ({ PK, SK, subjectId }: Item) =>
    !ofAll.includes(PK) || sortKeys.includes(SK) || subjectId === identityId;
  return items.flat().filter(isOfRun);
}

function itemsOf({ table }: Stores, partition: string): Promise<Item[]> {
  const condition = { KeyConditionExpression: 'PK = :PK', ExpressionAttributeValues: { ':PK': partition } };
  return queryAll(table, { ...condition, ConsistentRead: true }, (item) => item);
}

async function filesOfRun({ s3: client, place, license }: SmokeFixture): Promise<string[]> {
  const keys: string[] = [];
  for (const kind of ['generations', 'uploads']) {
    const folder = { Bucket: place.bucketName, Prefix: `${kind}/${license.licenseId}/` };
    for await (const { Contents = [] } of paginateListObjectsV2({ client }, folder))
      keys.push(...Contents.map(({ Key }) => Key!));
  }
  return keys;
}

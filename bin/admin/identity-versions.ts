import type { Identity } from '../../shared/identities/identity.ts';
import { changesBetween, type AuditChange } from '../../shared/accounts/audit.ts';
import { isoTime } from '../../shared/base/clock.ts';
import type { IdentityChange } from '../../shared/identities/store.ts';
import { maxVersionNumber, type StoredVersion } from '../../shared/identities/version.ts';
import { accessIsTakenAway, type CommandRow, type OperandRow, type Session } from './command.ts';
import { allVersions, getIdentity, getVersion, immutable } from './get-identity.ts';
import { changedRights, namesRights, type RightsOptions } from './identity-change.ts';
import {
  activatedAnswer,
  identityAnswer,
  missingRights,
  versionAnswer,
  versionJson,
} from './identity-output.ts';
import { deleteAllSamples } from './identity-samples.ts';
import { usersOf } from './version-users.ts';
import type { OptionRow } from '../common/command-line.ts';
import { Failure, usageFailure } from '../common/failure.ts';
import { listOf, readableTime, type Answer } from '../common/output.ts';
import { day, id, line, sha256, timeOrNever, wholeNumber } from '../common/values.ts';

export const consentOptions: OptionRow[] = [
  ['--consent-sha256 <hex>', "SHA-256 of the document of the creator's consent", sha256],
  ['--consent-date <day>', 'the day of that consent', day],
];

/** What the right to make pictures with a version is known by. */
export const rightsOptions: OptionRow[] = [
  ['--rights <text>', 'its licence, by name or address', line(200)],
  ['--source <text>', 'where it is from', line(500)],
  ...consentOptions,
];

const anIdentity: OperandRow = ['<identity>', 'its id or slug', id];
const aVersion: OperandRow = ['<version>', 'its number', wholeNumber(1, maxVersionNumber)];
const waits: OptionRow = ['--no-wait', 'do not wait until every function must have seen it (ten seconds)'];

export const versionCommands: CommandRow[] = [
  {
    name: 'versions',
    description: "an identity's versions, newest first",
    operands: [anIdentity],
    run: (_, name: string) => (session) => listVersions(session, name),
  },
  {
    name: 'activate',
    description: 'have requests that name no version get this one, forwards or back',
    operands: [anIdentity, aVersion],
    options: [['--require-rights', 'refuse a version without licence, source and consent'], waits],
    run: (options: ActivateOptions, name: string, number: number) => (session) =>
      activate(session, name, number, options),
  },
  {
    name: 'deactivate',
    description:
      'leave an identity without an active version: requests for it, pinned ones too, are answered 503',
    operands: [anIdentity],
    options: [waits],
    asksBefore: accessIsTakenAway,
    run: (_, name: string) => (session) => deactivate(session, name),
  },
  {
    name: 'retire',
    description: 'end a version that is not active: requests that pin it are answered 400 from then on',
    operands: [anIdentity, aVersion],
    options: [
      ['--on <time>', 'when, or "never" (default: now)', timeOrNever],
      ['--scan', 'only say who used it in the last 30 days, by reading the whole table'],
      waits,
    ],
    asksBefore: accessIsTakenAway,
    run: (options: RetireOptions, name: string, number: number) => (session) =>
      options.scan ? usersOf(session, name, number, options) : retire(session, name, number, options),
  },
  {
    name: 'rights',
    description: 'say what the right to make pictures with a version is known by',
    operands: [anIdentity, aVersion],
    options: rightsOptions,
    run(options: RightsOptions, name: string, number: number) {
      if (!namesRights(options))
        throw usageFailure('Give at least one of --rights, --source and --consent-sha256.');
      return (session) => setRights(session, name, number, options);
    },
  },
  {
    name: 'takedown',
    description:
      'withdraw an identity: new requests are answered 404 for everybody, and its samples are deleted',
    operands: [anIdentity],
    options: [['--reason <text>', 'why, for the audit log', line(500), { required: true }], waits],
    asksBefore: accessIsTakenAway,
    run:
      ({ reason }: { reason: string }, name: string) =>
      (session) =>
        takeDown(session, name, reason),
  },
  {
    name: 'reinstate',
    description: 'take a withdrawal back: the identity is as before, without samples',
    operands: [anIdentity],
    options: [waits],
    run: (_, name: string) => (session) => reinstate(session, name),
  },
];

interface ActivateOptions {
  requireRights?: boolean;
}

interface RetireOptions {
  on?: number | 'never';
  scan?: boolean;
  yes?: boolean;
}

async function listVersions(session: Session, name: string): Promise<Answer> {
  const identity = await getIdentity(session, name);
  const versions = await allVersions(session, identity);
  const columns = {
    VERSION: ({ number }: StoredVersion) => number,
    '': (version: StoredVersion) => stateOf(identity, version, session.nowMs),
    MADE: ({ createdAtMs }: StoredVersion) => readableTime(createdAtMs),
    ADAPTER: ({ adapterKey }: StoredVersion) => adapterKey,
    RIGHTS: ({ rights }: StoredVersion) => rights.license,
    NOTE: ({ note }: StoredVersion) => note,
  };
  return {
    json: { identityId: identity.identityId, versions: versions.map(versionJson) },
    text: listOf(versions, columns, `${identity.name} has no version yet.`),
  };
}

function stateOf({ model }: Identity, { number, retiresAtMs }: StoredVersion, nowMs: number): string {
  if (number === model?.number) return 'active';
  if (retiresAtMs === null) return '';
  return `${retiresAtMs <= nowMs ? 'retired' : 'ends'} ${readableTime(retiresAtMs)}`;
}

/** Changes an identity that is there, and answers what it has become. */
async function change(
  session: Session,
  name: string,
  changed: (before: Identity) => IdentityChange | Promise<IdentityChange>,
  answer: (after: Identity) => Answer | Promise<Answer> = identityAnswer,
): Promise<Answer> {
  const { identityId } = await getIdentity(session, name);
  const by = await session.operator();
  const { identities } = session.stores;
  // No command deletes an identity.
  const after = await identities.change(identityId, (before) => changed(before!), by, session.nowMs);
  await session.untilSeen();
  return answer(after);
}

async function activate(
  session: Session,
  name: string,
  number: number,
  { requireRights }: ActivateOptions,
): Promise<Answer> {
  let missing: string[] = [];
  const changed = async (before: Identity) => {
    const version = await getVersion(session, before, number);
    if (before.withdrawn !== null) throw new Failure(`${before.name} is withdrawn: reinstate it first.`);
    if (version.retiresAtMs !== null) {
      throw new Failure(
        `Version ${number} of ${before.name} retires on ${readableTime(version.retiresAtMs)}: take that back first (retire … --on never).`,
      );
    }
    missing = missingRights(version);
    if (requireRights && missing.length > 0) {
      throw new Failure(`Version ${number} has no ${missing.join(', ')}: give it with "identity rights".`);
    }
    return { identity: { ...before, model: immutable(version), samples: version.samples } };
  };
  const { json, text } = await change(session, name, changed, activatedAnswer);
  return { json: { ...json, missingRights: missing }, text };
}

async function deactivate(session: Session, name: string): Promise<Answer> {
  const before = await getIdentity(session, name);
  if (before.model === null) return identityAnswer(before);
  const losses = [
    `requests for ${before.name}, pinned ones too, are answered 503 until a version is activated again`,
  ];
  await session.confirm({ what: `deactivate the identity ${before.identityId}`, losses });
  return change(session, name, (found) => ({ identity: { ...found, model: null } }));
}

async function retire(
  session: Session,
  name: string,
  number: number,
  { on = session.nowMs }: RetireOptions,
): Promise<Answer> {
  if (on !== 'never') {
    const losses = [`requests that pin version ${number} are answered 400 from ${readableTime(on)} on`];
    await session.confirm({ what: `retire version ${number} of ${name}`, losses });
  }
  const changed = async (before: Identity) => {
    const version = await getVersion(session, before, number);
    if (before.model?.number === number) {
      throw new Failure(`Version ${number} of ${before.name} is the active one: activate another first.`);
    }
    const after = { ...version, retiresAtMs: on === 'never' ? null : on };
    return { identity: before, versions: [after], noted: notesOf(version, after) };
  };
  return change(session, name, changed, answerOf(session, number));
}

function setRights(session: Session, name: string, number: number, options: RightsOptions): Promise<Answer> {
  const changed = async (before: Identity) => {
    const version = await getVersion(session, before, number);
    const rights = changedRights(version.rights, options, session.nowMs);
    const after = { ...version, rights };
    const model = before.model?.number === number ? { ...before.model, rights } : before.model;
    return { identity: { ...before, model }, versions: [after], noted: notesOf(version, after) };
  };
  return change({ ...session, untilSeen: async () => {} }, name, changed, answerOf(session, number));
}

function answerOf(session: Session, number: number) {
  return async (identity: Identity) => versionAnswer(identity, await getVersion(session, identity, number));
}

/** What may change of a version, as the audit log has it. */
function notesOf(before: StoredVersion, after: StoredVersion): AuditChange[] {
  const members = ({ number, retiresAtMs, rights: { license, source, consent } }: StoredVersion) => ({
    [`version${number}RetiresAt`]: isoTime(retiresAtMs),
    [`version${number}License`]: license,
    [`version${number}Source`]: source,
    [`version${number}ConsentSha256`]: consent?.sha256 ?? null,
    [`version${number}ConsentDate`]: consent?.date ?? null,
  });
  return changesBetween(members(before), members(after));
}

/** So many versions are emptied in one transaction, which takes 100 items. */
const versionsAtOnce = 50;

async function takeDown(session: Session, name: string, reason: string): Promise<Answer> {
  const { identityId, name: shown } = await getIdentity(session, name);
  const losses = [`requests for ${shown} are answered 404, for everybody`, 'its samples are deleted'];
  await session.confirm({ what: `withdraw the identity ${identityId}`, losses });
  const now = { ...session, untilSeen: async () => {} };
  await change(now, identityId, (before) => {
    const version = before.withdrawn?.version ?? before.model?.number ?? null;
    const withdrawn = { atMs: session.nowMs, reason, version };
    return { identity: { ...before, model: null, samples: [], withdrawn } };
  });
  const versions = await session.stores.identities.versions(identityId);
  const withSamples = versions.filter(({ samples }) => samples.length > 0);
  for (let i = 0; i < withSamples.length; i += versionsAtOnce) {
    const some = withSamples.slice(i, i + versionsAtOnce).map((one) => ({ ...one, samples: [] }));
    await change(now, identityId, (before) => ({ identity: before, versions: some }));
  }
  await deleteAllSamples(session, identityId);
  await session.untilSeen();
  return identityAnswer(await getIdentity(session, identityId));
}

function reinstate(session: Session, name: string): Promise<Answer> {
  return change(session, name, async (before) => {
    const number = before.withdrawn?.version ?? null;
    const version = number === null ? null : await getVersion(session, before, number);
    return { identity: { ...before, model: version && immutable(version), withdrawn: null } };
  });
}

import { clearUnpaid } from '../../shared/generations/unpaid-part.ts';
import { identityByName } from '../../shared/identities/store.ts';
import { usableIdentities } from '../../shared/identities/usable.ts';
import { keyStatus } from '../../shared/keys/api-key.ts';
import type { License } from '../../shared/licenses/license.ts';
import { newLicense } from '../../shared/licenses/new-license.ts';
import { tiers, type TierName } from '../../shared/licenses/tiers.ts';
import { unpaidInWords } from '../../shared/licenses/unpaid-runs.ts';
import { accessIsTakenAway, type CommandGroup, type Session } from './command.ts';
import type { OptionRow } from '../common/command-line.ts';
import { Failure, usageFailure } from '../common/failure.ts';
import {
  changeOf,
  countChange,
  creditsFor,
  creditsNote,
  endMs,
  licenseLosses,
  type ChangeOptions,
} from './license-change.ts';
import { creditCommand } from './license-credit.ts';
import { moderationCommand } from './license-moderation.ts';
import { getLicense, unknownLicense } from './get-license.ts';
import { listLicenses, showLicense, type ListOptions } from './license-output.ts';
import { counted, type Answer } from '../common/output.ts';
import { account, id, ids, line, oneOf, time, timeOrNever, wholeNumber } from '../common/values.ts';

const tierNames = Object.keys(tiers) as TierName[];

const examples = [
  'license grant --owner ada@example.com --tier pro --founding-catalog',
  'license grant --owner SUB --name "Spring campaign" --tier enterprise --credits 25000 --identity aurora --anchor 2026-11-15',
  'license change lic_… --tier pro --credits 4000',
  'license credit lic_… 10 --reason "Two images of 3 November came out black." --id ticket-4711',
  'license suspend lic_… --reason "Chargeback of 24 November" --yes',
  'license moderation lic_… --threshold nsfw=0.95 --reason "A museum: paintings of people."',
  'license end lic_… --yes',
];

interface GrantOptions {
  owner: string;
  name?: string;
  tier: TierName;
  credits?: number;
  foundingCatalog?: boolean;
  identity?: string[];
  anchor?: number;
  activeUntil?: number | 'never';
  maxInFlight?: number;
  force?: string;
}

const credits = wholeNumber(0, 1_000_000_000);
const requests = wholeNumber(1, 10_000);
const tier = oneOf(tierNames);
const required = { required: true };

const grantOptions: OptionRow[] = [
  ['--owner <account>', 'the account it belongs to: its Cognito sub or e-mail address', account, required],
  ['--tier <tier>', tierNames.join(', '), tier, required],
  ['--name <name>', "what its owner calls it (default: the tier's)", line(64)],
  ['--credits <n>', "credits a month (default: the tier's own)", credits],
  ['--founding-catalog', 'it may use every identity of the founding catalog'],
  ['--identity <ids...>', 'it may use these identities too, by id or slug; may be repeated', ids],
  ['--anchor <time>', 'its billing periods begin on this day and time (default: now)', time],
  ['--active-until <time>', 'it is active until then (default: never ends)', timeOrNever],
  ['--max-in-flight <n>', "requests at a time (default: the tier's own)", requests],
  [
    '--force <reason>',
    'grant it to a sub whatever the user pool says of it; the audit log keeps why',
    line(200),
  ],
];

const newAnchor = 'its billing periods begin on this day; what is used counts on until the next of them';

const changeOptions: OptionRow[] = [
  ['--name <name>', 'what its owner calls it; a paid plan does not change it', line(64)],
  ['--no-name', 'as its paid plan is called, else its tier'],
  ['--tier <tier>', tierNames.join(', '), tier],
  ['--credits <n>', 'credits a month', credits],
  ['--founding-catalog', 'it may use every identity of the founding catalog'],
  ['--no-founding-catalog', 'it may not'],
  ['--identity <ids...>', 'it may use these identities and no others, by id or slug; may be repeated', ids],
  ['--no-identity', 'it may use no identity beside the founding catalog'],
  ['--anchor <time>', newAnchor, time],
  ['--new-credits', 'with --anchor: the period begins with all its credits'],
  ['--active-until <time>', 'it is active until then, or never ends: "never"', timeOrNever],
  ['--status <status>', 'active or past_due (suspended at once)', oneOf(['active', 'past_due'])],
  ['--max-in-flight <n>', 'requests at a time', requests],
  ['--no-max-in-flight', 'as many requests at a time as its tier allows'],
  ['--api-access', 'its keys are accepted'],
  ['--no-api-access', 'its keys are refused'],
];

export const licenseCommands: CommandGroup = {
  name: 'license',
  description:
    'licenses, which keys belong to: grant, change, credit, moderation, suspend, resume, end, forgive, list',
  examples,
  commands: [
    {
      name: 'grant',
      description: 'make a new license',
      options: grantOptions,
      run(options: GrantOptions) {
        const limit = creditsFor(options.tier, options.credits);
        return (session) => grant(session, options, limit);
      },
    },
    {
      name: 'change',
      description: 'change a license from the next request on: what is not named stays as it is',
      // The operand comes first, because --identity takes all values after it.
      usage: '<license> [options]',
      operands: [['<license>', 'its id', id]],
      options: changeOptions,
      asksBefore: accessIsTakenAway,
      run(options: ChangeOptions, licenseId: string) {
        const members = changeOf(options);
        return (session) => changeLicense(session, licenseId, members, options.newCredits ?? false);
      },
    },
    {
      name: 'suspend',
      description:
        'let a license do nothing from the next request on, whatever is paid, until it is resumed; what runs goes on',
      operands: [['<license>', 'its id', id]],
      options: [['--reason <reason>', 'why; its owner reads it', line(200), required]],
      asksBefore: accessIsTakenAway,
      run:
        ({ reason }: { reason: string }, licenseId: string) =>
        (session) =>
          suspend(session, licenseId, { atMs: session.nowMs, reason }),
    },
    {
      name: 'resume',
      description: 'end the suspension of a license: its status holds again',
      operands: [['<license>', 'its id', id]],
      run: (_, licenseId: string) => (session) => suspend(session, licenseId, null),
    },
    {
      name: 'end',
      description: 'end a license for good: its keys are refused from the next request on',
      operands: [['<license>', 'its id', id]],
      asksBefore: accessIsTakenAway,
      run: (_, licenseId: string) => (session) => endLicense(session, licenseId),
    },
    creditCommand,
    moderationCommand,
    {
      name: 'forgive',
      description: 'forget the runs that nobody paid for, so that its next request is not refused for them',
      operands: [['<license>', 'its id', id]],
      run: (_, licenseId: string) => (session) => forgive(session, licenseId),
    },
    {
      name: 'list',
      description: 'every license, oldest first; without --owner that reads the whole table',
      options: [
        ['--owner <account>', 'only those of this account: its sub or e-mail address', account],
        [
          '--deleted',
          'only those whose account is gone from the user pool: "account erase" with the owner clears what is left',
          null,
          { conflicts: ['owner'] },
        ],
      ],
      run: (options: ListOptions) => (session) => listLicenses(session, options),
    },
    {
      name: 'show',
      description: 'one license',
      operands: [['<license>', 'its id', id]],
      run: (_, licenseId: string) => async (session) =>
        showLicense(session, await getLicense(session, licenseId)),
    },
  ],
};

async function grant(session: Session, options: GrantOptions, creditsLimit: number): Promise<Answer> {
  const { stores, nowMs } = session;
  const identityIds = await identitiesNamed(session, options.identity ?? []);
  const given = {
    ownerId: await newOwnerId(session, options),
    givenName: options.name ?? null,
    tier: options.tier,
    creditsLimit,
    foundingCatalog: options.foundingCatalog ?? false,
    identityIds,
    periodAnchorMs: options.anchor ?? nowMs,
    activeUntilMs: endMs(options.activeUntil ?? 'never'),
    maxInFlight: options.maxInFlight ?? null,
  };
  const license = newLicense(given, nowMs);
  await stores.licenses.insert(license, await session.operator(), options.force);
  if ((await usableIdentities([license], stores.identities)).length === 0) {
    process.stderr.write(
      'warning: No identity can be used with this license: --founding-catalog or --identity opens some, see "identity list".\n',
    );
  }
  return showLicense(session, license);
}

async function newOwnerId({ accounts }: Session, { owner, force }: GrantOptions): Promise<string> {
  if (force !== undefined) {
    // Whose an unconfirmed address is, nobody knows.
    if (owner.includes('@')) throw usageFailure('--force takes the account by its sub: see "account list".');
    return owner;
  }
  return accounts.newOwnerId(owner).catch((error: unknown) => {
    if (!(error instanceof Failure)) throw error;
    const how = 'To grant the license all the same, name the sub and say why: --force "REASON".';
    throw new Failure(`${error.message} ${how}`, 1, { cause: error });
  });
}

async function changeLicense(
  session: Session,
  licenseId: string,
  named: ReturnType<typeof changeOf>,
  newCredits: boolean,
): Promise<Answer> {
  const { stores, nowMs } = session;
  const before = await getLicense(session, licenseId);
  const change = { ...named, ...countChange(before, named, newCredits, nowMs) };
  if (before.status === 'ended' && change.status !== undefined) {
    throw new Failure(`The license ${licenseId} has ended for good: grant a new one.`);
  }
  if (change.identityIds) change.identityIds = await identitiesNamed(session, change.identityIds);
  const losses = licenseLosses(before, change, nowMs);
  if (losses.length > 0) {
    await session.confirm({ what: `change the license ${licenseId} of ${before.ownerId}`, losses });
  }
  const after = await stores.licenses.update(licenseId, change, await session.operator(), nowMs);
  if (after === null) throw unknownLicense(licenseId);
  const { json, text } = await showLicense(session, after);
  return { json, text: text + creditsNote(change, after) };
}

async function endLicense(session: Session, licenseId: string): Promise<Answer> {
  const { stores, nowMs } = session;
  const before = await getLicense(session, licenseId);
  if (before.status === 'ended') return showLicense(session, before);
  const keys = await stores.apiKeys.listByOwner(before.ownerId);
  const active = keys.filter((key) => key.licenseId === licenseId && keyStatus(key, nowMs) === 'active');
  await session.confirm({
    what: `end the license ${licenseId} (${tiers[before.tier].label}) of ${before.ownerId} for good`,
    losses: [`${counted(active.length, 'active key')} of it will be refused`],
  });
  const endedAtMs = Math.min(nowMs, before.activeUntilMs ?? nowMs);
  const change = { status: 'ended', activeUntilMs: endedAtMs } as const;
  const after = await stores.licenses.update(licenseId, change, await session.operator(), nowMs);
  if (after === null) throw unknownLicense(licenseId);
  return showLicense(session, after);
}

async function suspend(
  session: Session,
  licenseId: string,
  suspended: License['suspended'],
): Promise<Answer> {
  const { stores, nowMs } = session;
  const { status, ownerId } = await getLicense(session, licenseId);
  if (status === 'ended') throw new Failure(`The license ${licenseId} has ended for good.`);
  if (suspended !== null) {
    const losses = ['its keys and its playground will be refused', 'its owner reads the reason'];
    await session.confirm({ what: `suspend the license ${licenseId} of ${ownerId}`, losses });
  }
  const after = await stores.licenses.update(licenseId, { suspended }, await session.operator(), nowMs);
  if (after === null) throw unknownLicense(licenseId);
  return showLicense(session, after);
}

async function forgive(session: Session, licenseId: string): Promise<Answer> {
  const { stores, nowMs } = session;
  await getLicense(session, licenseId);
  const runs = await clearUnpaid(stores.table, licenseId, await session.operator(), nowMs);
  const what = runs.length === 0 ? '' : `: ${unpaidInWords(runs)}`;
  return {
    json: { licenseId, forgotten: runs.length },
    text: `${counted(runs.length, 'unpaid run')} of ${licenseId} forgotten${what}.`,
  };
}

/** The ids of identities that are named by id or slug. A mistyped one would grant nothing, so it is refused. */
async function identitiesNamed({ stores }: Session, names: string[]): Promise<string[]> {
  const found = await Promise.all(names.map((name) => identityByName(stores.identities, name)));
  const unknown = names.filter((_, i) => found[i] === null);
  if (unknown.length > 0) throw new Failure(`There is no identity ${unknown.join(', ')}.`);
  return [...new Set(found.map((identity) => identity!.identityId))];
}

import { asFailure } from '../../common/failure.ts';
import { isMissingPermission } from '../aws.ts';
import { conditionOf, readStacks, wasCreated, type Stack } from '../stacks.ts';
import { note, stop, type Check, type Facts, type Finding, type Plan } from './check.ts';
import { imported, leftovers } from './leftovers.ts';
import { mail, readSes, senderOf } from './mail.ts';
import { concurrency as concurrencyQuota, instanceQuota, readConcurrency, readReservedBy } from './quotas.ts';
import { regions } from './regions.ts';
import { cloudFront, newModel, stackStates } from './stack-states.ts';
import { severalTypes, zones } from './zones.ts';

const checks: Check[] = [
  regions,
  stackStates,
  imported,
  leftovers,
  newModel,
  instanceQuota,
  zones,
  severalTypes,
  concurrencyQuota,
  mail,
  cloudFront,
];

export interface Preflight {
  findings: Finding[];
  /** Stacks whose first creation failed. Their protection is in the way of the CDK, which deletes them first. */
  neverCreated: string[];
  /** How many functions the account may run at once; null if AWS did not say. */
  accountConcurrency: number | null;
  /** The identity of SES that may send to everybody; null if there is none, or AWS did not say. */
  mailIdentity: string | null;
  /** How many of these the functions of other stacks have reserved; 0 if AWS did not say. */
  reservedByOthers: number;
}

/** Asks AWS whether a deployment can succeed. It changes nothing. */
export async function preflight(plan: Plan): Promise<Preflight> {
  const { aws, deployment, targets } = plan;
  const { stackName, modelStackName, networkStackName } = deployment;
  const names = [stackName, modelStackName, networkStackName].filter((name) => name !== null);
  const concurrency = readConcurrency(aws);
  const facts = {
    stacks: readStacks(aws, names),
    accountConcurrency: concurrency.then(({ total }) => total),
    ses: readSes(plan),
  };
  const found = await Promise.all(checks.map((check) => resultOf(check, plan, facts)));
  const stacks = await facts.stacks.catch(() => new Map<string, Stack>());
  return {
    findings: found.flat(),
    neverCreated: targets.filter((name) => {
      const stack = stacks.get(name);
      return stack?.isProtected && conditionOf(stack) === 'never-created';
    }),
    accountConcurrency: await facts.accountConcurrency.catch(() => null),
    mailIdentity: await facts.ses.then(senderOf).catch(() => null),
    reservedByOthers: await reservedByOthers(plan, stacks, concurrency).catch(() => 0),
  };
}

async function reservedByOthers(
  { aws, deployment: { stackName } }: Plan,
  stacks: Map<string, Stack>,
  concurrency: ReturnType<typeof readConcurrency>,
): Promise<number> {
  const { reserved } = await concurrency;
  const stack = stacks.get(stackName);
  if (reserved === 0 || stack === undefined) return reserved;
  return reserved - (wasCreated(stack) ? await readReservedBy(aws, stackName) : 0);
}

/** A check that can't be made is seldom a reason to stop: the deployment itself may still succeed. */
async function resultOf(check: Check, plan: Plan, facts: Facts): Promise<Finding[]> {
  try {
    return await check.run(plan, facts);
  } catch (error) {
    const reason = isMissingPermission(error)
      ? `these credentials lack the permission ${check.permission}.`
      : asFailure(error, null).message;
    const sentence = `It was not checked ${check.subject}: ${reason}`;
    const wayOut = (await check.unanswered?.(plan, facts)) ?? null;
    return wayOut === null ? note(sentence) : stop(`${sentence} ${wayOut}`);
  }
}

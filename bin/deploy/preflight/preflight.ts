import { asFailure } from '../../common/failure.ts';
import { isMissingPermission } from '../aws.ts';
import { conditionOf, readStacks } from '../stacks.ts';
import { note, type Check, type Facts, type Finding, type Plan } from './check.ts';
import { imported, leftovers } from './leftovers.ts';
import { mail } from './mail.ts';
import { concurrency, instanceQuota, readConcurrency } from './quotas.ts';
import { regions } from './regions.ts';
import { cloudFront, newModel, stackStates } from './stack-states.ts';

const checks: Check[] = [
  regions,
  stackStates,
  imported,
  leftovers,
  newModel,
  instanceQuota,
  concurrency,
  mail,
  cloudFront,
];

export interface Preflight {
  findings: Finding[];
  /** Stacks whose first creation failed. Their protection is in the way of the CDK, which deletes them first. */
  neverCreated: string[];
  /** How many functions the account may run at once; null if AWS did not say. */
  accountConcurrency: number | null;
}

/** Asks AWS whether a deployment can succeed. It changes nothing. */
export async function preflight(plan: Plan): Promise<Preflight> {
  const { aws, deployment, targets } = plan;
  const names = [deployment.stackName, deployment.modelStackName].filter((name) => name !== null);
  const facts = { stacks: readStacks(aws, names), accountConcurrency: readConcurrency(aws) };
  const found = await Promise.all(checks.map((check) => resultOf(check, plan, facts)));
  const stacks = await facts.stacks.catch(() => new Map());
  return {
    findings: found.flat(),
    neverCreated: targets.filter((name) => {
      const stack = stacks.get(name);
      return stack?.isProtected && conditionOf(stack) === 'never-created';
    }),
    accountConcurrency: await facts.accountConcurrency.catch(() => null),
  };
}

/** A check that can't be made is no reason to stop: the deployment itself may still succeed. */
async function resultOf(check: Check, plan: Plan, facts: Facts): Promise<Finding[]> {
  try {
    return await check.run(plan, facts);
  } catch (error) {
    const reason = isMissingPermission(error)
      ? `these credentials lack the permission ${check.permission}.`
      : asFailure(error, null).message;
    return note(`It was not checked ${check.subject}: ${reason}`);
  }
}

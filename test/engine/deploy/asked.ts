import { stacksToDeploy, type Part } from '../../../bin/deploy/deployment.ts';
import { preflight, type Preflight } from '../../../bin/deploy/preflight/preflight.ts';
import { deploymentFor, inAccount } from './plan.ts';
import { modelStackName, stackName, type StandInAccount } from './stand-in-aws.ts';

export const deployed = { status: 'UPDATE_COMPLETE' };
export const both = { [stackName]: deployed, [modelStackName]: deployed };

export interface Asked extends StandInAccount {
  configuration?: unknown;
  only?: Part;
  newData?: boolean;
  timeLimitMs?: number;
}

/** What a deployment into such an account finds beforehand, and what it asked. */
export async function asked({ configuration = {}, only, newData = false, timeLimitMs, ...account }: Asked) {
  const deployment = deploymentFor(configuration);
  const targets = stacksToDeploy(deployment, only);
  return inAccount(
    account,
    async (aws, calls) => ({ ...(await preflight({ aws, deployment, targets, newData })), calls }),
    timeLimitMs,
  );
}

export const lines = ({ findings }: Preflight) =>
  findings.map(({ stops, sentence }) => `${stops ? 'stop' : 'note'}: ${sentence}`);
export const linesFor = async (world: Asked) => lines(await asked(world));

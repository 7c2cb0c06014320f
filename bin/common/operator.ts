import { userInfo } from 'node:os';
import { someOperator, type Actor } from '../../shared/accounts/audit.ts';
import type { Place } from './connection.ts';

/** Who works with the CLI: on AWS who AWS says that it is, on the local service the user of this computer. */
export async function operatorOf(place: Place): Promise<Actor> {
  if (place.localFolder !== null) return userOfComputer();
  const { GetCallerIdentityCommand, STSClient } = await import('@aws-sdk/client-sts');
  const client = new STSClient({});
  try {
    const { Arn: arn } = await client.send(new GetCallerIdentityCommand({}));
    return arn ? `operator:${arn}` : userOfComputer();
  } finally {
    client.destroy();
  }
}

/** A container may run as a user that has no name. */
function userOfComputer(): Actor {
  try {
    return `operator:${userInfo().username}`;
  } catch {
    return someOperator;
  }
}

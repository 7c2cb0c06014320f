import { wasCreated } from '../stacks.ts';
import { note, type Check } from './check.ts';

/** AWS has no question that tells whether an account is verified: only the first distribution does. */
export const cloudFront: Check = {
  subject: 'whether this is the first deployment',
  permission: 'cloudformation:DescribeStacks',
  async run({ deployment, targets }, facts) {
    const { stackName } = deployment;
    const stacks = await facts.stacks;
    if (!targets.includes(stackName) || wasCreated(stacks.get(stackName)!)) return [];
    return [
      note(
        'The first deployment needs a distribution of CloudFront, which AWS refuses to accounts that it has not verified: ' +
          '"Your account must be verified before you can add new CloudFront resources". If that happens, open a case in the ' +
          'Support Center and deploy again when it is answered; nothing is lost (docs/deploying.md#a-new-account).',
      ),
    ];
  },
};

import { PassThrough } from 'node:stream';
import { expect, test } from '@jest/globals';
import { removeOldModels } from '../../../bin/deploy/old-models.ts';
import { deploymentFor, inAccount, withModel } from './fixture.ts';
import {
  arnOf,
  modelDescription as description,
  modelStackName,
  stackName,
  type StandInAccount,
} from './stand-in-aws.ts';

const old = `${stackName}-model-g5-xlarge`;
const stacks = {
  [stackName]: { description },
  [modelStackName]: { description },
  [old]: { description },
  // None of these is an old model of this stage.
  [`${stackName}-model-of-mine`]: { description: 'A stack of mine' },
  'image-generation-staging-model-g5-xlarge': { description },
  [`${stackName}-model-g4dn-xlarge`]: { description, status: 'DELETE_COMPLETE' },
  [`${stackName}-model-g6e-xlarge`]: { description, status: 'DELETE_IN_PROGRESS' },
};

interface Asked {
  account?: StandInAccount;
  options?: unknown;
  yes?: boolean;
  /** What is typed; null for a terminal that is closed; left out where there is none. */
  typed?: string | null;
}

async function remove({ account = {}, options = withModel, yes = false, typed }: Asked = {}) {
  const input = Object.assign(new PassThrough(), { isTTY: typed !== undefined });
  if (typed === null) input.end();
  else if (typed !== undefined) input.write(typed);
  const terminal = { input, output: new PassThrough() };
  let said = '';
  const say = (text: string) => void (said += `${text}\n`);
  return inAccount({ stacks, ...account }, async (aws, calls) => {
    const removal = removeOldModels(aws, deploymentFor(options), { yes, waitMs: 0, terminal, say });
    const failure = await removal.then(
      () => null,
      (error: Error) => error.message,
    );
    const changes = calls.filter(({ action }) => action !== 'DescribeStacks');
    return { said, failure, changes, shown: String(terminal.output.read() ?? '') };
  });
}

const deletion = (name: string) => [
  { action: 'UpdateTerminationProtection', stack: arnOf(name) },
  { action: 'DeleteStack', stack: arnOf(name) },
];

test('the model that the service no longer uses is deleted when the operator agrees, and no other stack', async () => {
  const { said, failure, changes, shown } = await remove({ typed: 'y\n' });
  expect({ failure, changes }).toEqual({ failure: null, changes: deletion(old) });
  expect(said).toContain(`their instances still cost money: ${old}.`);
  expect(said).toContain('AWS deletes them now');
  expect(shown).toContain('Delete them? [y/N]');
});

test('--yes agrees', async () => {
  expect((await remove({ yes: true })).changes).toEqual(deletion(old));
});

test.each([['n\n'], [null], [undefined]])(
  '%j: nothing is deleted, and the commands are shown',
  async (typed) => {
    const { said, failure, changes } = await remove(typed === undefined ? {} : { typed });
    expect({ failure, changes }).toEqual({ failure: null, changes: [] });
    expect(said).toContain(`--no-enable-termination-protection --stack-name ${old} --region eu-west-1`);
    expect(said).toContain(`delete-stack --stack-name ${old} --region eu-west-1`);
  },
);

test('without a model of its own, the service uses none of them', async () => {
  const { changes } = await remove({ options: {}, yes: true });
  expect(changes).toEqual([...deletion(modelStackName), ...deletion(old)]);
});

test('an endpoint that the configuration names is not deleted, whichever stack made it', async () => {
  const options = { inference: { kind: 'existing', endpointName: old } };
  expect((await remove({ options, yes: true })).changes).toEqual(deletion(modelStackName));
});

test('where there is no old model, nothing is said', async () => {
  const account = { stacks: { [stackName]: {}, [modelStackName]: { description } } };
  expect(await remove({ account, yes: true })).toEqual({ said: '', failure: null, changes: [], shown: '' });
});

test.each(['UpdateTerminationProtection', 'DeleteStack'])(
  '%s is refused: it is said, with the command',
  async (denied) => {
    const { failure } = await remove({ account: { denied: [denied] }, yes: true });
    expect(failure).toContain('not authorized');
    expect(failure).toMatch(/aws cloudformation .* --region eu-west-1$/);
  },
);

test('a list that cannot be read does not make a failure of a deployment that succeeded', async () => {
  const { said, failure, changes } = await remove({ account: { denied: ['DescribeStacks'] }, yes: true });
  expect({ failure, changes }).toEqual({ failure: null, changes: [] });
  expect(said).toContain('It was not checked whether models of before still run');
});

import { beforeAll, describe, expect, test } from '@jest/globals';
import { jobs, routes } from '../../shared/routes.ts';
import { partitions } from '../../shared/store/table-keys.ts';
import { functionIdOf, isAllowed, resolver, statementsOf, type Asked } from '../support/policies.ts';
import { templateOf } from '../support/stack-templates.ts';
import { listedTableRequests, needsOf } from '../support/table-requests.ts';
import { iamSimulatorPath } from './tools.ts';

let runSimulation: (simulation: object, options: object) => Promise<{ overallResult: string }>;

const accountId = '123456789012';
const tableArn = `arn:aws:dynamodb:eu-west-1:${accountId}:table/records`;
const template = templateOf('everything');
const tableId = Object.entries(template.Resources).find(
  ([, { Type }]) => Type === 'AWS::DynamoDB::Table',
)![0];
const resolve = resolver({ [`${tableId}.Arn`]: tableArn });
const functionNames = [...Object.values(routes), ...Object.values(jobs)].map(
  ({ functionName }) => functionName,
);

beforeAll(async () => {
  ({ runSimulation } = await import(iamSimulatorPath));
});

const statementsFor = (functionName: string) =>
  statementsOf(template, functionIdOf(template, functionName), resolve).filter(({ actions }) =>
    actions.some((action) => action.startsWith('dynamodb:')),
  );

/** What the simulator says of a request to the table by a function. */
async function simulated(functionName: string, { action, resource, leadingKeys }: Asked): Promise<boolean> {
  const Statement = statementsFor(functionName).map(({ effect, actions, resources, conditions }) => ({
    Effect: effect,
    Action: actions,
    Resource: resources,
    Condition: conditions,
  }));
  const { overallResult } = await runSimulation(
    {
      request: {
        principal: `arn:aws:iam::${accountId}:role/${functionName}`,
        action,
        resource: { resource, accountId },
        contextVariables: { 'dynamodb:LeadingKeys': leadingKeys },
      },
      identityPolicies: [{ name: 'role', policy: { Version: '2012-10-17', Statement } }],
      serviceControlPolicies: [],
      resourceControlPolicies: [],
    },
    {},
  );
  return overallResult === 'Allowed';
}

describe('an IAM simulator that is not ours allows every request to the table, with all its keys:', () => {
  test.each(listedTableRequests())('$functionName: $line', async ({ functionName, request }) => {
    for (const asked of needsOf(request, tableArn)) {
      expect({ asked, allowed: await simulated(functionName, asked) }).toEqual({ asked, allowed: true });
    }
  });
});

const operations = ['GetItem', 'BatchGetItem', 'Query', 'PutItem', 'UpdateItem', 'DeleteItem', 'Scan'];
const kinds: { leadingKey: string; index?: string }[] = Object.values(partitions);
const leadingKeys = kinds.map(({ leadingKey }) => `${leadingKey}1`);
/** Each key alone, and each pair of keys. */
const keySets = leadingKeys.flatMap((one, i) => [
  [one],
  ...leadingKeys.slice(i + 1).map((other) => [one, other]),
]);
const places = [tableArn, ...kinds.flatMap(({ index }) => (index ? [`${tableArn}/index/${index}`] : []))];

test.each(functionNames)('it agrees with our own judge of policies on all that %s may ask', async (name) => {
  for (const resource of places) {
    for (const operation of operations) {
      for (const keys of keySets) {
        const asked = { action: `dynamodb:${operation}`, resource, leadingKeys: keys };
        const allowed = isAllowed(statementsFor(name), asked);
        expect({ asked, allowed: await simulated(name, asked) }).toEqual({ asked, allowed });
      }
    }
  }
});

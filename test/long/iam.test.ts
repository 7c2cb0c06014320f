import { beforeAll, describe, expect, test } from '@jest/globals';
import { routes } from '../../shared/routes/routes.ts';
import { jobs } from '../../shared/routes/jobs.ts';
import { partitions } from '../../shared/table/schema.ts';
import {
  functionIdOf,
  isAllowed,
  resolver,
  statementsOf,
  type Asked,
  type Statement,
} from '../support/policies.ts';
import { supportStatements } from '../support/support-role.ts';
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

/** Who answers customers, by the policy that the CLI prints. */
const support = 'the role for support';
const supportOfTable = supportStatements().filter(({ actions }) => actions[0]!.startsWith('dynamodb:'));
const toThisTable = ({ resources, ...statement }: Statement): Statement => ({
  ...statement,
  resources: resources.map((resource) => resource.replace(/^.*:table\/records/, tableArn)),
});

const statementsFor = new Map<string, Statement[]>([
  [support, supportOfTable.map(toThisTable)],
  ...functionNames.map((functionName): [string, Statement[]] => [
    functionName,
    statementsOf(template, functionIdOf(template, functionName), resolve).filter(({ actions }) =>
      actions.some((action) => action.startsWith('dynamodb:')),
    ),
  ]),
]);

/** What the simulator says of a request to the table by a function. */
async function simulated(functionName: string, { action, resource, leadingKeys }: Asked): Promise<boolean> {
  const Statement = statementsFor.get(functionName)!.map(({ effect, actions, resources, conditions }) => ({
    Effect: effect,
    Action: actions,
    Resource: resources,
    Condition: conditions,
  }));
  const { overallResult } = await runSimulation(
    {
      request: {
        principal: `arn:aws:iam::${accountId}:role/${functionName.replaceAll(' ', '-')}`,
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
const places = [tableArn, ...kinds.flatMap(({ index }) => (index ? [`${tableArn}/index/${index}`] : []))];

const everybody = [...functionNames, support];
test.each(everybody)('it agrees with our own judge of policies on all that %s may ask', async (name) => {
  const allowedByBoth = async (asked: Asked): Promise<boolean> => {
    const allowed = isAllowed(statementsFor.get(name)!, asked);
    expect({ asked, allowed: await simulated(name, asked) }).toEqual({ asked, allowed });
    return allowed;
  };
  for (const resource of places) {
    for (const operation of operations) {
      const action = `dynamodb:${operation}`;
      const allowed = new Set<string>();
      for (const key of leadingKeys) {
        if (await allowedByBoth({ action, resource, leadingKeys: [key] })) allowed.add(key);
      }
      for (const pair of pairsOf(leadingKeys)) {
        // Whoever may have neither key may not have both: a condition on keys holds for each of them.
        if (pair.some((key) => allowed.has(key))) {
          await allowedByBoth({ action, resource, leadingKeys: pair });
        }
      }
    }
  }
});

function pairsOf(keys: readonly string[]): string[][] {
  return keys.flatMap((one, i) => keys.slice(i + 1).map((other) => [one, other]));
}

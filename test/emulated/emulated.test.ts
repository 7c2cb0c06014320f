import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { useFixture } from '../support/use-fixture.ts';
import { describeChanges } from './changes.ts';
import { isLeftOut, leftOut } from './left-out.ts';
import { streamedPath } from './assembly.ts';
import { accountId, region } from './ministack.ts';
import { describePermissions } from './permissions.ts';
import { describeResources } from './resources.ts';
import { describeUse } from './use.ts';
import { deployEverything, type EmulatedFixture } from './fixture.ts';

const fixture = useFixture(deployEverything, 900_000);
const typesOfApp = () =>
  new Set(
    [...fixture.templates.values()].flatMap(({ Resources }) =>
      Object.values(Resources).map(({ Type: type }) => type),
    ),
  );

describe("the CDK's CLI", () => {
  test('deploys the model and the service, which names the endpoint by the export of the other stack', async () => {
    const stacks = await Promise.all([fixture.modelStackName, fixture.stackName].map(fixture.describe));
    expect(stacks.map(({ StackStatus: status }) => status)).toEqual(['CREATE_COMPLETE', 'CREATE_COMPLETE']);
    expect(stacks.map(({ EnableTerminationProtection: isOn }) => isOn)).toEqual([true, true]);
    expect(fixture.outputs['ModelEndpointName']).toBe(fixture.modelStackName);
  });

  test('makes every resource of both stacks but those that are left out', () => {
    for (const [stackName, template] of fixture.templates) {
      const expected = Object.entries(template.Resources)
        .filter(([, resource]) => !isLeftOut(resource))
        .map(([logicalId]) => logicalId);
      expect(Object.keys(fixture.made.get(stackName)!).sort()).toEqual(expected.sort());
    }
  });
});

describe('the list of what is left out is not longer than needed', () => {
  test('CloudFormation knows no type on it, and the app has each', async () => {
    const types = typesOfApp();
    expect([...leftOut.keys()].filter((type) => !types.has(type))).toEqual([]);
    const resources = [...leftOut.keys()].map((Type, i) => [`R${i}`, { Type, Properties: {} }]);
    const TemplateBody = JSON.stringify({ Resources: Object.fromEntries(resources) });
    const request = { StackName: 'left-out', TemplateBody };
    const refusal = await fixture.ask('cloudformation', 'create_stack', request).catch(String);
    const [, unknown] = /Unrecognized resource types: \[(.*)\]/.exec(refusal) ?? [];
    expect(unknown?.split(', ').sort()).toEqual([...leftOut.keys()].sort());
  });

  test('API Gateway does not find the function of a streamed integration', async () => {
    const health = fixture.physicalId('AWS::Lambda::Function', 'GetHealth');
    const restApiId = await makeApi(fixture, streamedPath, health);
    const { status } = await fixture.edge.send(`${fixture.edge.url}/_aws/execute-api/${restApiId}/test/`);
    expect(status).toBe(500);
  });
});

test('docs/emulator.md lists exactly the types that are made, and those that are left out', () => {
  const text = readFileSync(new URL('../../docs/emulator.md', import.meta.url), 'utf8');
  const told = [...text.matchAll(/^\| `((?:AWS|Custom)::[A-Za-z0-9:]+)`/gm)].map(([, type]) => type!);
  expect(told.sort()).toEqual([...typesOfApp()].sort());
  for (const type of leftOut.keys()) expect(text).toMatch(new RegExp(`\`${type}\` +\\| left out`));
});

describeResources(fixture);
describeUse(fixture);
describePermissions(fixture);
describeChanges(fixture);

test('nobody asked for a name that is neither of AWS nor of the deployment', () => {
  expect([...fixture.edge.strangers]).toEqual([]);
});

/** An API with one method. @returns its id */
async function makeApi({ ask }: EmulatedFixture, path: typeof streamedPath, fn: string): Promise<string> {
  const arn = `arn:aws:lambda:${region}:${accountId}:function:${fn}`;
  const uri = `arn:aws:apigateway:${region}:lambda:path${path[0]}${arn}${path[1]}`;
  const { id: restApiId } = await ask('apigateway', 'create_rest_api', { name: 'streamed' });
  const { items } = await ask('apigateway', 'get_resources', { restApiId });
  const method = { restApiId, resourceId: items[0].id, httpMethod: 'GET' };
  await ask('apigateway', 'put_method', { ...method, authorizationType: 'NONE' });
  await ask('apigateway', 'put_integration', {
    ...method,
    type: 'AWS_PROXY',
    integrationHttpMethod: 'POST',
    uri,
  });
  await ask('apigateway', 'create_deployment', { restApiId, stageName: 'test' });
  return restApiId;
}

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { environmentVariables } from '../../shared/config.ts';
import { routes } from '../../shared/routes.ts';
import { tableSchema } from '../../shared/store/table-keys.ts';
import { synthesize } from '../support/synthesized.ts';
import type { Moto } from './emulator/moto.ts';
import { describeRecords } from './emulator/records.ts';
import { leftOut, templateWith } from './emulator/template.ts';
import {
  announcedChanges,
  deployEverything,
  describeStack,
  eventBusName,
  updateStack,
  type World,
} from './emulator/world.ts';

let world: World;
const ask: Moto['ask'] = (...question) => world.moto.ask(...question);
const typesOfStack = () => new Set(Object.values(world.template.Resources).map(({ Type: type }) => type));

beforeAll(async () => {
  world = await deployEverything();
}, 300_000);
afterAll(() => world?.moto.close());

describe('moto, which knows nothing of this project,', () => {
  test('makes every resource of the types that its CloudFormation knows', () => {
    const expected = Object.entries(world.template.Resources)
      .filter(([, { Type: type }]) => !leftOut.has(type))
      .map(([logicalId]) => logicalId);
    expect(Object.keys(world.resources).sort()).toEqual(expected.sort());
  });

  test('gets everything that it can make: the list of left-out types is not longer than needed', async () => {
    const types = typesOfStack();
    expect([...leftOut].filter((type) => !types.has(type))).toEqual([]);
    const { Resources } = templateWith(world.template, (type) => leftOut.has(type));
    const TemplateBody = JSON.stringify({ Resources });
    await ask('cloudformation', 'create_stack', { StackName: 'left-out', TemplateBody });
    expect((await describeStack(world.moto, 'left-out')).resources).toEqual({});
  });
});

test('docs/emulator.md lists exactly the types that moto makes', () => {
  const text = readFileSync(new URL('../../docs/emulator.md', import.meta.url), 'utf8');
  const told = [...text.matchAll(/^\| `((?:AWS|Custom)::[A-Za-z0-9:]+)`/gm)].map(([, type]) => type!);
  const made = [...typesOfStack()].filter((type) => !leftOut.has(type));
  expect(told.sort()).toEqual(made.sort());
});

test('the table has the keys and indexes that the stores use, and may not be deleted', async () => {
  const parameters = { TableName: world.outputs['TableName'] };
  const { Table: table } = await ask('dynamodb', 'describe_table', parameters);
  const { KeySchema, GlobalSecondaryIndexes } = tableSchema;
  expect(table).toMatchObject({ KeySchema, GlobalSecondaryIndexes });
  await expect(ask('dynamodb', 'delete_table', parameters)).rejects.toThrow(/DeletionProtectionEnabled/);
});

test('the API has the endpoints of the table of routes, each with its function', async () => {
  const restApiId = world.physicalId('AWS::ApiGateway::RestApi');
  const { items } = await ask('apigateway', 'get_resources', { restApiId, limit: 500, embed: ['methods'] });
  const mounted = items.flatMap(({ path, resourceMethods = {} }: any) =>
    Object.entries<any>(resourceMethods)
      .filter(([method]) => method !== 'OPTIONS')
      .map(([method, { methodIntegration }]) => [
        `${method} ${path}`,
        /function:([^/]+)/.exec(methodIntegration.uri)![1],
      ]),
  );
  const expected = Object.values(routes).map(({ method, path, functionName }) => [
    `${method} /api/v1${path}`,
    world.physicalId('AWS::Lambda::Function', pascalCase(functionName)),
  ]);
  expect(mounted.sort()).toEqual(expected.sort());
});

describe('every function', () => {
  test('has its own role, and variables with the real names of the table and the bucket', async () => {
    const made = Object.values(world.resources).filter(({ type }) => type === 'AWS::Lambda::Function');
    const functions = await Promise.all(
      made.map(({ physicalId: FunctionName }) =>
        ask('lambda', 'get_function_configuration', { FunctionName }),
      ),
    );
    expect(new Set(functions.map(({ Role: role }) => role)).size).toBe(functions.length);
    const told = (name: string) =>
      new Set(functions.flatMap(({ Environment }) => Environment?.Variables[name] ?? []));
    expect(told(environmentVariables.tableName)).toEqual(new Set([world.outputs['TableName']]));
    expect(told(environmentVariables.bucketName)).toEqual(new Set([world.outputs['BucketName']]));
  });

  test('that uses the table has a policy for the real table, and for no other resource of DynamoDB', async () => {
    const roles = Object.values(world.resources).filter(({ type }) => type === 'AWS::IAM::Role');
    const { Table: table } = await ask('dynamodb', 'describe_table', {
      TableName: world.outputs['TableName'],
    });
    const statements = (await Promise.all(roles.map(({ physicalId }) => statementsOf(physicalId)))).flat();
    const onTables = statements
      .filter(({ Action: action }) => [action].flat().some((name: string) => name.startsWith('dynamodb:')))
      .flatMap(({ Resource: resource }) => resource);
    expect(onTables.length).toBeGreaterThan(10);
    const foreign = onTables.filter(
      (arn) => arn !== table.TableArn && !arn.startsWith(`${table.TableArn}/index/`),
    );
    expect(foreign).toEqual([]);
  });
});

test("Stripe's events go through the rule to the queue, and other events do not", async () => {
  const QueueUrl = world.physicalId('AWS::SQS::Queue', 'BillingQueueEvents');
  const event = {
    Source: 'aws.partner/stripe.com/ed_test',
    EventBusName: eventBusName,
    Detail: '{"id":"evt_1"}',
  };
  const Entries = ['customer.created', 'invoice.paid'].map((DetailType) => ({ ...event, DetailType }));
  expect(await ask('events', 'put_events', { Entries })).toMatchObject({ FailedEntryCount: 0 });
  const answer = await ask('sqs', 'receive_message', { QueueUrl, MaxNumberOfMessages: 10 });
  const kinds = (answer.Messages ?? []).map(({ Body: body }: any) => JSON.parse(body)['detail-type']);
  expect(kinds).toEqual(['invoice.paid']);
});

describeRecords(() => world);

describe('a deployed stack', () => {
  test('is not changed by the same template', async () => {
    expect(await announcedChanges(world.moto, world.stackName, world.template)).toEqual([]);
  });

  test('changes the retention of images without a replacement', async () => {
    const { moto, stackName, outputs } = world;
    const synthesized = synthesize({ ...world.options, retentionDays: 30 });
    synthesized.remove();
    const changes = await announcedChanges(moto, stackName, synthesized.template);
    // A function with another setting is another version of it.
    const inPlace = changes.filter(({ ResourceType: type }) => type !== 'AWS::Lambda::Version');
    expect(new Set(inPlace.map(({ Action: action }) => action))).toEqual(new Set(['Modify']));
    expect(changes.filter(({ ResourceType: type }) => type === 'AWS::S3::Bucket')).toHaveLength(1);
    await updateStack(moto, stackName, synthesized.template);
    expect((await describeStack(moto, stackName)).outputs['BucketName']).toBe(outputs['BucketName']);
  }, 120_000);

  test('keeps its records and images when it is deleted', async () => {
    await ask('cloudformation', 'delete_stack', { StackName: world.stackName });
    expect((await ask('dynamodb', 'list_tables')).TableNames).toContain(world.outputs['TableName']);
    const { Buckets: buckets } = await ask('s3', 'list_buckets');
    expect(buckets.map(({ Name: name }: any) => name)).toContain(world.outputs['BucketName']);
    expect((await ask('lambda', 'list_functions')).Functions).toEqual([]);
  });
});

async function statementsOf(RoleName: string): Promise<any[]> {
  const { PolicyNames: names } = await ask('iam', 'list_role_policies', { RoleName });
  const policies = await Promise.all(
    names.map((PolicyName: string) => ask('iam', 'get_role_policy', { RoleName, PolicyName })),
  );
  return policies.flatMap(({ PolicyDocument: { Statement: statement } }) => statement);
}

function pascalCase(name: string): string {
  return name.replace(/(^|-)([a-z])/g, (_, _dash, letter: string) => letter.toUpperCase());
}

import { readFileSync } from 'node:fs';
import { DescribeTableCommand, DynamoDBClient, DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import { DeleteStackCommand } from '@aws-sdk/client-cloudformation';
import {
  GetBucketCorsCommand,
  GetBucketEncryptionCommand,
  GetBucketLifecycleConfigurationCommand,
  GetPublicAccessBlockCommand,
  ListBucketsCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { environmentVariables } from '../../shared/config.ts';
import { routes } from '../../shared/routes.ts';
import { tableSchema } from '../../shared/store/table-keys.ts';
import { synthesize } from '../support/synthesized.ts';
import { announcedChanges, describeStack, updateStack } from './emulator/deployment.ts';
import { resolvedProperties } from './emulator/emulated-template.ts';
import { completedByHand, isLeftOut, madeByHand, notMade } from './emulator/left-out.ts';
import { region, type Moto } from './emulator/moto.ts';
import { describeRecords } from './emulator/records.ts';
import { deployEverything, eventBusName, type World } from './emulator/world.ts';

let world: World;
const ask: Moto['ask'] = (...question) => world.moto.ask(...question);

beforeAll(async () => {
  world = await deployEverything();
}, 300_000);
afterAll(() => world?.close());

describe('moto, which knows nothing of this project,', () => {
  test('makes every resource of the types that its CloudFormation knows', () => {
    const expected = Object.entries(world.template.Resources)
      .filter(([, { Type: type }]) => !isLeftOut(type))
      .map(([logicalId]) => logicalId);
    expect(Object.keys(world.resources).sort()).toEqual(expected.sort());
  });

  test('takes by its services what its CloudFormation does not know', () => {
    expect(world.refused).toEqual({});
  });

  test('is spared nothing that it could take, and nothing that the stack does not have', async () => {
    const types = new Set(Object.values(world.template.Resources).map(({ Type: type }) => type));
    const listed = [...Object.keys(madeByHand), ...Object.keys(notMade)];
    expect(listed.filter((type) => !types.has(type))).toEqual([]);
    const properties = resolvedProperties(world.outputs);
    const leftOut = Object.entries(world.template.Resources)
      .filter(([, { Type: type }]) => isLeftOut(type))
      .map(([id, { Type: type }]) => [id, { Type: type, Properties: JSON.parse(properties[id]!) }]);
    const TemplateBody = JSON.stringify({ Resources: Object.fromEntries(leftOut) });
    await ask('cloudformation', 'create_stack', { StackName: 'left-out', TemplateBody });
    expect((await describeStack(world.clients, 'left-out')).resources).toEqual({});
  });
});

test('docs/emulator.md tells of every type of the stack, and of none that it does not have', () => {
  const text = readFileSync(new URL('../../docs/emulator.md', import.meta.url), 'utf8');
  const told = [...text.matchAll(/^\| `((?:AWS|Custom)::[A-Za-z0-9:]+)`/gm)].map(([, type]) => type!);
  const types = new Set(Object.values(world.template.Resources).map(({ Type: type }) => type));
  expect(told.sort()).toEqual([...types].sort());
});

describe('the table', () => {
  test('has the keys and indexes that the stores use, and may not be deleted', async () => {
    const client = new DynamoDBClient({ endpoint: world.moto.url, region });
    const { Table: table } = await client.send(
      new DescribeTableCommand({ TableName: world.outputs['TableName'] }),
    );
    const { KeySchema, GlobalSecondaryIndexes } = structuredClone(tableSchema) as object as typeof table &
      object;
    expect(table).toMatchObject({ KeySchema, GlobalSecondaryIndexes });
    const request = new DeleteTableCommand({ TableName: world.outputs['TableName'] });
    await expect(client.send(request)).rejects.toThrow(/DeletionProtectionEnabled/);
    client.destroy();
  });

  test('forgets what has had its time, and can be taken back to any second', async () => {
    const parameters = { TableName: world.outputs['TableName'] };
    expect(await ask('dynamodb', 'describe_time_to_live', parameters)).toMatchObject({
      TimeToLiveDescription: { TimeToLiveStatus: 'ENABLED', AttributeName: 'ttl' },
    });
    expect(await ask('dynamodb', 'describe_continuous_backups', parameters)).toMatchObject({
      ContinuousBackupsDescription: {
        PointInTimeRecoveryDescription: { PointInTimeRecoveryStatus: 'ENABLED' },
      },
    });
  });
});

describe('the bucket of images', () => {
  test('is encrypted and closed to the public, shows pictures to pages, and drops them after 90 days', async () => {
    const { s3 } = world.clients;
    const bucket = { Bucket: world.outputs['BucketName']! };
    const [encryption, access, cors, lifecycle] = await Promise.all([
      s3.send(new GetBucketEncryptionCommand(bucket)),
      s3.send(new GetPublicAccessBlockCommand(bucket)),
      s3.send(new GetBucketCorsCommand(bucket)),
      s3.send(new GetBucketLifecycleConfigurationCommand(bucket)),
    ]);
    expect(encryption.ServerSideEncryptionConfiguration!.Rules).toMatchObject([
      { ApplyServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } },
    ]);
    expect(new Set(Object.values(access.PublicAccessBlockConfiguration!))).toEqual(new Set([true]));
    expect(cors.CORSRules).toMatchObject([{ AllowedMethods: ['GET', 'HEAD', 'POST'] }]);
    expect(lifecycle.Rules).toMatchObject([
      { ID: 'images', Filter: { Prefix: 'generations/' }, Expiration: { Days: 90 } },
      { ID: 'uploads', Filter: { Prefix: 'uploads/' }, Expiration: { Days: 1 } },
      { ID: 'unfinished-uploads', AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 } },
    ]);
  });
});

describe('accounts', () => {
  test('are signed in by a client that has no secret and returns to the dashboard only', async () => {
    const UserPoolId = world.outputs['UserPoolId']!;
    const { UserPoolClients: clients } = await ask('cognito-idp', 'list_user_pool_clients', { UserPoolId });
    const [{ ClientId }] = clients;
    const { UserPoolClient: client } = await ask('cognito-idp', 'describe_user_pool_client', {
      UserPoolId,
      ClientId,
    });
    expect(clients).toHaveLength(1);
    expect(client).toMatchObject({
      AllowedOAuthFlows: ['code'],
      CallbackURLs: ['https://app.example.com/callback'],
      LogoutURLs: ['https://app.example.com/signed-out'],
    });
    expect(client).not.toHaveProperty('ClientSecret');
    const { UserPool: pool } = await ask('cognito-idp', 'describe_user_pool', { UserPoolId });
    expect(pool).toMatchObject({
      AdminCreateUserConfig: { AllowAdminCreateUserOnly: true },
      UsernameAttributes: ['email'],
    });
  });
});

describe('the API', () => {
  test('has the endpoints of the table of routes, each answered by its function', async () => {
    const restApiId = world.physicalId('AWS::ApiGateway::RestApi');
    const parameters = { restApiId, limit: 500, embed: ['methods'] };
    const { items } = await ask('apigateway', 'get_resources', parameters);
    const mounted = items.flatMap(({ path, resourceMethods = {} }: any) =>
      Object.entries<any>(resourceMethods)
        .filter(([method]) => method !== 'OPTIONS')
        .map(
          ([
            method,
            {
              methodIntegration: { uri },
            },
          ]) => [`${method} ${path}`, /function:([^/]+)/.exec(uri)![1]],
        ),
    );
    const expected = Object.values(routes).map(({ method, path, functionName }) => [
      `${method} /api/v1${path}`,
      world.physicalId('AWS::Lambda::Function', pascalCase(functionName)),
    ]);
    expect(mounted.sort()).toEqual(expected.sort());
  });

  test('is reached by its own name, which the stack tells', async () => {
    const { items } = await ask('apigateway', 'get_base_path_mappings', { domainName: 'api.example.com' });
    expect(items).toMatchObject([{ restApiId: world.physicalId('AWS::ApiGateway::RestApi'), stage: 'test' }]);
    expect(world.outputs).toMatchObject({
      BaseUrl: 'https://api.example.com/api/v1',
      DashboardUrl: 'https://app.example.com/',
      ModelEndpointName: expect.stringContaining(world.stackName),
    });
  });
});

describe('every function', () => {
  test('runs as a role of its own and is told the real names of table and bucket, if any', async () => {
    const names = Object.values(world.resources).filter(({ type }) => type === 'AWS::Lambda::Function');
    const functions = await Promise.all(
      names.map(({ physicalId: FunctionName }) =>
        ask('lambda', 'get_function_configuration', { FunctionName }),
      ),
    );
    expect(new Set(functions.map(({ Role: role }) => role)).size).toBe(functions.length);
    const told = (name: string) =>
      new Set(functions.flatMap(({ Environment }) => Environment?.Variables[name] ?? []));
    expect(told(environmentVariables.tableName)).toEqual(new Set([world.outputs['TableName']]));
    expect(told(environmentVariables.bucketName)).toEqual(new Set([world.outputs['BucketName']]));
  });

  test('that reads the table may do so by a policy on the real table, and on no other resource of DynamoDB', async () => {
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

describe("Stripe's events", () => {
  test('come to the queue by the rule, and others do not', async () => {
    const QueueUrl = world.physicalId('AWS::SQS::Queue', 'BillingQueueEvents');
    const event = {
      Source: 'aws.partner/stripe.com/ed_test',
      EventBusName: eventBusName,
      Detail: '{"id":"evt_1"}',
    };
    const Entries = ['customer.created', 'invoice.paid'].map((DetailType) => ({ ...event, DetailType }));
    expect(await ask('events', 'put_events', { Entries })).toMatchObject({ FailedEntryCount: 0 });
    const { Messages: messages = [] } = await ask('sqs', 'receive_message', {
      QueueUrl,
      MaxNumberOfMessages: 10,
    });
    const kinds = messages.map(({ Body: body }: any) => JSON.parse(body)['detail-type']);
    expect(kinds).toEqual(['invoice.paid']);
  });
});

describeRecords(() => world);

describe('a stack that lives on', () => {
  test('is not changed by the same template', async () => {
    expect(await announcedChanges(world.clients, world.stackName, world.template)).toEqual([]);
  });

  test('drops images sooner when it is told to, and replaces nothing for it', async () => {
    const { clients, stackName, outputs } = world;
    const synthesized = synthesize({ ...world.options, retentionDays: 30 });
    synthesized.remove();
    const changes = await announcedChanges(clients, stackName, synthesized.template);
    expect(new Set(changes.map(({ Action: action }) => action))).toEqual(new Set(['Modify']));
    const [bucket, ...others] = changes.filter(({ ResourceType: type }) => type === 'AWS::S3::Bucket');
    expect(others).toEqual([]);
    await updateStack(clients, stackName, synthesized.template);
    const Bucket = outputs['BucketName']!;
    const updated = await describeStack(clients, stackName);
    expect(updated.outputs['BucketName']).toBe(Bucket);
    const properties = JSON.parse(resolvedProperties(updated.outputs)[bucket!.LogicalResourceId!]!);
    for (const call of completedByHand['AWS::S3::Bucket']!(properties, Bucket)) await ask(...call);
    const { Rules: rules } = await clients.s3.send(new GetBucketLifecycleConfigurationCommand({ Bucket }));
    expect(rules![0]).toMatchObject({ Filter: { Prefix: 'generations/' }, Expiration: { Days: 30 } });
  }, 120_000);

  test('leaves its records and images behind when it is deleted', async () => {
    const { cloudFormation, s3 } = world.clients;
    await cloudFormation.send(new DeleteStackCommand({ StackName: world.stackName }));
    const { TableNames: tables } = await ask('dynamodb', 'list_tables');
    const { Buckets: buckets } = await s3.send(new ListBucketsCommand({}));
    expect(tables).toContain(world.outputs['TableName']);
    expect(buckets!.map(({ Name: name }) => name)).toContain(world.outputs['BucketName']);
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

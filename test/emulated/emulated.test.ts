import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { stacksToDeploy } from '../../bin/deploy/deployment.ts';
import { preflight } from '../../bin/deploy/preflight/preflight.ts';
import { environmentVariables } from '../../shared/base/config.ts';
import { newApiKey } from '../../shared/keys/api-key.ts';
import { routes } from '../../shared/routes/routes.ts';
import { tableSchema } from '../../shared/table/schema.ts';
import { atEndpoint, deploymentFor } from '../engine/deploy/fixture.ts';
import { small } from '../support/requests.ts';
import { samplePhoto } from '../support/uploads.ts';
import { reported } from '../support/smoke.ts';
import { until } from '../support/until.ts';
import { useFixture } from '../support/use-fixture.ts';
import { stripeEvent, subscription } from '../unit/billing/stripe-fixtures.ts';
import { isLeftOut, leftOut, streamedPath } from './assembly.ts';
import type { EdgeAnswer } from './edge.ts';
import { deployEverything } from './fixture.ts';
import { refusedCategory, refusedWord } from './prompt-check.ts';
import { accountId, region, type Ask, type Credentials } from './ministack.ts';

const fixture = useFixture(deployEverything, 900_000);
const ask: Ask = (...question) => fixture.ask(...question);
const output = (name: string) => fixture.outputs[name]!;
const bearer = (key: string) => ({ headers: { authorization: `Bearer ${key}` } });
const resources = () => [...fixture.templates.values()].flatMap(({ Resources }) => Object.values(Resources));
const typesOfApp = () => new Set(resources().map(({ Type: type }) => type));

/** The operator's CLI, which finds the table by the stack's name. */
async function admin(command: string): Promise<any> {
  const args = ['--json', '--stack', fixture.stackName, ...command.split(' ')];
  const { code, stdout, stderr } = await fixture.run('bin/admin.ts', args);
  if (code !== 0) throw new Error(`admin ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}

describe("the CDK's CLI", () => {
  test('deploys the model and the service, which names the endpoint by the export of the other stack', async () => {
    const stacks = await Promise.all([fixture.modelStackName, fixture.stackName].map(fixture.describe));
    expect(stacks.map(({ StackStatus: status }) => status)).toEqual(['CREATE_COMPLETE', 'CREATE_COMPLETE']);
    expect(stacks.map(({ EnableTerminationProtection: isOn }) => isOn)).toEqual([true, true]);
    expect(output('ModelEndpointName')).toBe(fixture.modelStackName);
  });

  test('makes every resource of all stacks but those that are left out', () => {
    for (const [stackName, template] of fixture.templates) {
      const expected = Object.entries(template.Resources).filter(([, resource]) => !isLeftOut(resource));
      const names = expected.map(([logicalId]) => logicalId);
      expect(Object.keys(fixture.made.get(stackName)!).sort()).toEqual(names.sort());
    }
  });
});

describe('the list of what is left out is not longer than needed', () => {
  test('CloudFormation knows no type on it, and the app has each', async () => {
    const types = typesOfApp();
    expect([...leftOut.keys()].filter((type) => !types.has(type))).toEqual([]);
    const unknown = [...leftOut.keys()].map((Type, i) => [`R${i}`, { Type, Properties: {} }]);
    const TemplateBody = JSON.stringify({ Resources: Object.fromEntries(unknown) });
    const request = { StackName: 'left-out', TemplateBody };
    const refusal = await ask('cloudformation', 'create_stack', request).catch(String);
    const [, named] = /Unrecognized resource types: \[(.*)\]/.exec(refusal) ?? [];
    expect(named?.split(', ').sort()).toEqual([...leftOut.keys()].sort());
  });

  test('API Gateway does not find the function of a streamed integration', async () => {
    const fn = fixture.physicalId('AWS::Lambda::Function', 'GetHealth');
    const arn = `arn:aws:lambda:${region}:${accountId}:function:${fn}`;
    const uri = `arn:aws:apigateway:${region}:lambda:path${streamedPath[0]}${arn}${streamedPath[1]}`;
    const { id: restApiId } = await ask('apigateway', 'create_rest_api', { name: 'streamed' });
    const { items } = await ask('apigateway', 'get_resources', { restApiId });
    const method = { restApiId, resourceId: items[0].id, httpMethod: 'GET' };
    await ask('apigateway', 'put_method', { ...method, authorizationType: 'NONE' });
    const integration = { type: 'AWS_PROXY', integrationHttpMethod: 'POST', uri };
    await ask('apigateway', 'put_integration', { ...method, ...integration });
    await ask('apigateway', 'create_deployment', { restApiId, stageName: 'test' });
    const { status } = await fixture.edge.send(`${fixture.edge.url}/_aws/execute-api/${restApiId}/test/`);
    expect(status).toBe(500);
  });
});

test('docs/emulator.md lists exactly the types that are made, and those that are left out', () => {
  const text = readFileSync(new URL('../../docs/emulator.md', import.meta.url), 'utf8');
  const listed = [...text.matchAll(/^\| `((?:AWS|Custom)::[A-Za-z0-9:]+)`/gm)].map(([, type]) => type!);
  expect(listed.sort()).toEqual([...typesOfApp()].sort());
  for (const type of leftOut.keys()) expect(text).toMatch(new RegExp(`\`${type}\` +\\| left out`));
});

describe('what the emulator made', () => {
  test('is a table with the keys and indexes that the stores use, which may not be deleted', async () => {
    const table = { TableName: output('TableName') };
    const { KeySchema, GlobalSecondaryIndexes } = tableSchema;
    const described = await ask('dynamodb', 'describe_table', table);
    expect(described.Table).toMatchObject({ KeySchema, GlobalSecondaryIndexes });
    await expect(ask('dynamodb', 'delete_table', table)).rejects.toThrow(/deletion protection/i);
  });

  test('is an API with the endpoints of the table of routes, each with its function', async () => {
    const restApiId = fixture.physicalId('AWS::ApiGateway::RestApi');
    const all = { restApiId, limit: 500, embed: ['methods'] };
    const { items } = await ask('apigateway', 'get_resources', all);
    const mounted = items.flatMap(({ path, resourceMethods = {} }: any) =>
      Object.entries<any>(resourceMethods).flatMap(
        ([
          method,
          {
            methodIntegration: { type, uri },
          },
        ]) =>
          // API Gateway itself answers preflights, and what a route refuses.
          type === 'MOCK' ? [] : `${method} ${path} ${/function:([^/]+)\//.exec(uri)![1]}`,
      ),
    );
    const pascalCase = (name: string) => name.replace(/(?:^|-)([a-z])/g, (_, letter) => letter.toUpperCase());
    const expected = Object.values(routes).map(({ method, path, functionName }) => {
      const id = fixture.physicalId('AWS::Lambda::Function', pascalCase(functionName));
      return `${method} /api/v1${path} ${id}:live`;
    });
    expect(mounted.sort()).toEqual(expected.sort());
  });

  test('are functions with a role each, and variables with the real names of the table and the bucket', async () => {
    const made = Object.values(fixture.made.get(fixture.stackName)!);
    const functions = await Promise.all(
      made
        .filter(({ type }) => type === 'AWS::Lambda::Function')
        .map(({ physicalId: FunctionName }) => ask('lambda', 'get_function_configuration', { FunctionName })),
    );
    expect(new Set(functions.map(({ Role: role }) => role)).size).toBe(functions.length);
    for (const [variable, name] of [
      [environmentVariables.tableName, 'TableName'],
      [environmentVariables.bucketName, 'BucketName'],
    ] as const) {
      const values = functions.flatMap(({ Environment }) => Environment?.Variables[variable] ?? []);
      expect(new Set(values)).toEqual(new Set([output(name)]));
    }
  });

  test('is a dashboard at its own name, with headers that keep other origins out, and a page for every screen', async () => {
    const get = (path: string) => fixture.edge.send(new URL(path, output('DashboardUrl')).href);
    for (const path of ['/', '/keys']) {
      const { status, headers, text } = await get(path);
      expect([status, headers['content-type']]).toEqual([200, 'text/html']);
      expect(text).toContain('<script');
      expect(headers['content-security-policy']).toContain("default-src 'self'");
      expect(headers['strict-transport-security']).toMatch(/max-age=\d+/);
    }
    // AWS answers 404, since CloudFront may list the bucket.
    expect((await get('/assets/none.js')).status).toBe(403);
  });

  test('is a zone whose names lead to the API and to the dashboard', async () => {
    const HostedZoneId = fixture.options.domain!.hostedZone!.id;
    const { ResourceRecordSets: records } = await ask('route53', 'list_resource_record_sets', {
      HostedZoneId,
    });
    const aliases = records
      .filter(({ AliasTarget: target }: any) => target)
      .map(({ Name, Type, AliasTarget }: any) => [
        Name,
        Type,
        /(execute-api|cloudfront).*/.exec(AliasTarget.DNSName)![0],
      ]);
    const gateway = `execute-api.${region}.amazonaws.com.`;
    expect(aliases.sort()).toEqual([
      ['api.example.com.', 'A', gateway],
      ['api.example.com.', 'AAAA', gateway],
      ['app.example.com.', 'A', 'cloudfront.net.'],
      ['app.example.com.', 'AAAA', 'cloudfront.net.'],
    ]);
  });

  test('are alarms that notify the topic', async () => {
    const isMade = (resource: any) => resource.Type === 'AWS::CloudWatch::Alarm' && !isLeftOut(resource);
    const expected = resources().filter((one) => isMade(one) && one.Properties.AlarmActions !== undefined);
    const { MetricAlarms, CompositeAlarms } = await ask('cloudwatch', 'describe_alarms', { MaxRecords: 100 });
    const actions = [...MetricAlarms, ...CompositeAlarms].map(({ AlarmActions }) => AlarmActions);
    const notifying = actions.filter(({ length }) => length > 0);
    expect(notifying).toHaveLength(expected.length);
    expect(new Set(notifying.flat())).toEqual(new Set([output('AlarmTopicArn')]));
  });

  test('is a bucket that nobody reaches without a link', async () => {
    const Bucket = output('BucketName');
    expect((await fixture.edge.send(`${fixture.edge.url}/${Bucket}/generations/x`)).status).toBe(403);
    const { Policy } = await ask('s3', 'get_bucket_policy', { Bucket });
    expect(Policy).toContain('aws:SecureTransport');
    expect(Policy).not.toContain(`arn:aws:iam::${accountId}:root`);
  });
});

test('npm run smoke finds nothing but that the pool names other addresses than its own for signing in', async () => {
  const run = await fixture.run('bin/smoke.ts', ['--stack', fixture.stackName, '--json']);
  const unfinished = [...reported(run.stdout).values()].filter(({ status }) => status !== 'passed');
  expect(unfinished.map(({ status, name, reason }) => [status, name, reason])).toEqual([
    ['skipped', 'without a model a generation is refused and nothing is charged or held', expect.anything()],
    [
      'failed',
      'the dashboard and the user pool agree on where to sign in',
      'wrong in the answer: authorization_endpoint',
    ],
  ]);
  expect([run.code, run.stderr]).toEqual([1, '']);
});

describe("with the operator's CLI", () => {
  /** A key may ask for ten images a minute. */
  const requestsPerKey = 10;
  /** As many at once as a machine with two cores answers in time. */
  const atOnce = 10;
  let identityId: string;
  beforeAll(async () => {
    const about = '--name Emulated --description Test --catalog founding';
    ({ identityId } = await admin(`identity put --slug emulated-${randomUUID()} ${about}`));
  });
  const grant = async (credits: number): Promise<string> =>
    (
      await admin(
        `license grant --force emulated --owner sub-1 --tier pro --founding-catalog --credits ${credits}`,
      )
    ).licenseId;
  const generate = (key: string) =>
    fixture.edge.send(`${output('BaseUrl')}/generate`, { ...bearer(key), body: { ...small, identityId } });

  test('a license, its key and the identity are there on the next request, and a revoked key is not', async () => {
    const { keyId, key } = await admin(`key issue ${await grant(10)} --name first`);
    const identities = () => fixture.edge.send(`${output('BaseUrl')}/identities`, bearer(key));
    expect((await identities()).status).toBe(200);
    // Functions remember the catalog for ten seconds.
    const isListed = async () =>
      (await identities()).json.identities.map(({ id }: any) => id).join() === identityId;
    await until('the identity is listed', isListed, 30_000, 1000);
    await admin(`key revoke ${keyId} --yes`);
    const refused = await identities();
    expect([refused.status, refused.json.code]).toEqual([401, 'INVALID_API_KEY']);
  });

  test('of 50 requests on 7 credits exactly 7 are answered, each with its image, and the totals are exact', async () => {
    const licenseId = await grant(7);
    const waiting: string[] = [];
    for (let i = 0; i < 50 / requestsPerKey; i++) {
      const { key } = await admin(`key issue ${licenseId} --name key-${i}`);
      waiting.push(...Array<string>(requestsPerKey).fill(key));
    }
    // The emulator starts a process for each request at once. A start takes processor time, which calls to the table may not wait for.
    await until('as many processes as needed have started', async () => {
      const strangers = await Promise.all(Array.from({ length: atOnce }, () => generate(newApiKey())));
      return strangers.every(({ status }) => status === 401);
    });
    const answers: EdgeAnswer[] = [];
    const next = async () => {
      for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) answers.push(await generate(key));
    };
    await Promise.all(Array.from({ length: atOnce }, next));
    const outcomes = answers.map(({ status, json }) => `${status} ${json?.code ?? ''}`);
    const times = (outcome: string) => outcomes.filter((one) => one === outcome).length;
    expect(Object.fromEntries(outcomes.map((outcome) => [outcome, times(outcome)]))).toEqual({
      '200 ': 7,
      '429 CREDIT_LIMIT_EXCEEDED': 43,
    });
    const answered = answers.filter(({ status }) => status === 200);
    const images = await Promise.all(answered.map(({ json }) => fixture.edge.send(json.outputs[0])));
    expect(images.map(({ headers }) => headers['content-type'])).toEqual(Array(7).fill('image/png'));
    const usage = await admin(`usage ${licenseId}`);
    expect(usage).toMatchObject({ stats: { current: 7, limit: 7 }, held: 0 });
    expect(usage.aggregates.byType).toMatchObject({ text_to_image: { requests: 7, credits: 7 } });
  });

  test("a form of OpenAI's edits arrives byte for byte, 4 MiB of files too: its media type is binary", async () => {
    const { key } = await admin(`key issue ${await grant(1)} --name edit`);
    const about = '--name Photos --description Test --catalog founding --product-photos';
    const { identityId: model } = await admin(`identity put --slug photos-${randomUUID()} ${about}`);
    const photo = await samplePhoto();
    // What follows a picture changes nothing of it.
    const file = Buffer.concat([photo, Buffer.alloc(4 * 1024 * 1024 - photo.length, 0xff)]);
    const form = new FormData();
    const order = { model, prompt: 'a quiet test', size: '512x512', response_format: 'url' };
    for (const [name, value] of Object.entries(order)) form.set(name, value);
    form.append('image', new Blob([file]), 'photo.png');
    const sent = new Response(form);
    const answer = await fixture.edge.send(`${output('BaseUrl')}${routes.editOpenAiImage.path}`, {
      headers: { ...bearer(key).headers, 'content-type': sent.headers.get('content-type')! },
      body: Buffer.from(await sent.arrayBuffer()),
    });
    expect([answer.status, answer.json.error]).toEqual([200, undefined]);
    expect((await fixture.edge.send(answer.json.data[0].url)).headers['content-type']).toBe('image/png');
  });

  test("a prompt that the operator's own server does not allow is refused: functions may read the secret, and sign with it", async () => {
    const { key } = await admin(`key issue ${await grant(1)} --name refused`);
    const body = { ...small, identityId, prompt: `a ${refusedWord}` };
    const { status, json } = await fixture.edge.send(`${output('BaseUrl')}/generate`, {
      ...bearer(key),
      body,
    });
    expect([status, json.code, json.error]).toEqual([
      400,
      'CONTENT_REFUSED',
      expect.stringContaining(refusedCategory),
    ]);
  });

  test('a request that nobody waits for goes through its queue, and makes an image', async () => {
    const { key } = await admin(`key issue ${await grant(1)} --name later`);
    const { headers } = bearer(key);
    const asked = { headers: { ...headers, prefer: 'respond-async' }, body: { ...small, identityId } };
    const { status, json: accepted } = await fixture.edge.send(`${output('BaseUrl')}/generate`, asked);
    expect([status, accepted.status]).toEqual([202, 'QUEUED']);
    let stored: any;
    await until('it has ended', async () => {
      const url = `${output('BaseUrl')}/generate/${accepted.requestId}`;
      ({ json: stored } = await fixture.edge.send(url, bearer(key)));
      return stored.completedAt !== null;
    });
    expect(stored.status).toBe('COMPLETED');
    expect((await fixture.edge.send(stored.outputUrl)).headers['content-type']).toBe('image/png');
  });

  test("an event of Stripe's goes through bus, rule, queue and function, and makes a license", async () => {
    const ownerId = randomUUID();
    const sold = subscription({ id: `sub_${Date.now()}`, metadata: { ownerId } });
    const event = stripeEvent('customer.subscription.created', sold);
    const EventBusName = fixture.options.billing!.eventBusName;
    // Only AWS's partners may send events of theirs. The rule asks for the detail type alone.
    const entry = { Source: 'test', EventBusName, Detail: JSON.stringify(event) };
    const Entries = ['customer.created', event.type].map((DetailType) => ({ ...entry, DetailType }));
    expect(await ask('events', 'put_events', { Entries })).toMatchObject({ FailedEntryCount: 0 });
    let licenses: any[] = [];
    await until('there is a license', async () => {
      ({ licenses } = await admin(`license list --owner ${ownerId}`));
      return licenses.length > 0;
    });
    expect(licenses).toEqual([expect.objectContaining({ ownerId, tier: 'pro', foundingCatalog: true })]);
    const AttributeNames = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'];
    for (const prefix of ['BillingQueueEvents', 'BillingQueueDeadLetters']) {
      const QueueUrl = fixture.physicalId('AWS::SQS::Queue', prefix);
      await until(`nothing is left in ${prefix}`, async () => {
        const { Attributes } = await ask('sqs', 'get_queue_attributes', { QueueUrl, AttributeNames });
        return AttributeNames.every((name) => Attributes[name] === '0');
      });
    }
  });
});

test('a function whose role loses an action is refused it from then on, and has it again with its policy', async () => {
  const RoleName = fixture.physicalId('AWS::IAM::Role', 'ListIdentitiesRole');
  const policy = { RoleName, PolicyName: 'granted' };
  const { PolicyDocument: document } = await ask('iam', 'get_role_policy', policy);
  const isRead = ({ Action: actions }: any) => [actions].flat().includes('dynamodb:BatchGetItem');
  expect(document.Statement.filter(isRead)).not.toEqual([]);
  const codeWith = async (Statement: object[]) => {
    const PolicyDocument = JSON.stringify({ ...document, Statement });
    await ask('iam', 'put_role_policy', { ...policy, PolicyDocument });
    return (await fixture.edge.send(`${output('BaseUrl')}/identities`, bearer(newApiKey()))).json.code;
  };
  const lost = document.Statement.filter((statement: any) => !isRead(statement));
  const codes = [];
  for (const statements of [document.Statement, lost, document.Statement])
    codes.push(await codeWith(statements));
  expect(codes).toEqual(['INVALID_API_KEY', 'INTERNAL_ERROR', 'INVALID_API_KEY']);
});

describe('a user who may get items of the partitions KEY#… and use the bucket', () => {
  let user: Credentials;
  const UserName = 'test-user';
  const PolicyName = 'test';
  const Key = { PK: { S: 'LICENSE#none' }, SK: { S: 'LICENSE' } };
  beforeAll(async () => {
    await ask('iam', 'create_user', { UserName });
    const { Table: table } = await ask('dynamodb', 'describe_table', { TableName: output('TableName') });
    const Statement = [
      {
        Effect: 'Allow',
        Action: ['dynamodb:GetItem', 'dynamodb:BatchGetItem', 'dynamodb:PutItem'],
        Resource: table.TableArn,
        Condition: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['KEY#*'] } },
      },
      { Effect: 'Allow', Action: 's3:*', Resource: '*' },
    ];
    const PolicyDocument = JSON.stringify({ Version: '2012-10-17', Statement });
    await ask('iam', 'put_user_policy', { UserName, PolicyName, PolicyDocument });
    const { AccessKey: key } = await ask('iam', 'create_access_key', { UserName });
    user = { aws_access_key_id: key.AccessKeyId, aws_secret_access_key: key.SecretAccessKey };
  });
  afterAll(async () => {
    await ask('iam', 'delete_access_key', { UserName, AccessKeyId: user.aws_access_key_id });
    await ask('iam', 'delete_user_policy', { UserName, PolicyName });
    await ask('iam', 'delete_user', { UserName });
  });

  test('may not delete one, nor check one in a transaction', async () => {
    const TableName = output('TableName');
    const deletion = ask('dynamodb', 'delete_item', { TableName, Key }, user);
    await expect(deletion).rejects.toThrow(/AccessDenied.*dynamodb:DeleteItem/);
    const ConditionCheck = { TableName, Key, ConditionExpression: 'attribute_not_exists(PK)' };
    const check = ask('dynamodb', 'transact_write_items', { TransactItems: [{ ConditionCheck }] }, user);
    await expect(check).rejects.toThrow(/AccessDenied.*dynamodb:ConditionCheckItem/);
  });

  // When this fails, MiniStack has learned it: docs/emulator.md can say so, and the keys of batches and transactions be tested here.
  test('gets and puts items of other partitions as well: dynamodb:LeadingKeys is not judged', async () => {
    const TableName = output('TableName');
    const got = await ask('dynamodb', 'get_item', { TableName, Key }, user);
    const RequestItems = { [TableName]: { Keys: [Key] } };
    const batch = await ask('dynamodb', 'batch_get_item', { RequestItems }, user);
    expect([got.Item, batch.Responses[TableName]]).toEqual([undefined, []]);
    const Put = { TableName, Item: { PK: { S: 'OTHER#1' }, SK: { S: 'X' } } };
    await ask('dynamodb', 'transact_write_items', { TransactItems: [{ Put }] }, user);
    await ask('dynamodb', 'delete_item', { TableName, Key: Put.Item });
  });

  test('lists the bucket over TLS, and is refused without it', async () => {
    const Bucket = output('BucketName');
    await ask('s3', 'list_objects_v2', { Bucket }, user);
    const plain = { ...user, endpoint_url: fixture.ministack.url };
    const refused = ask('s3', 'list_objects_v2', { Bucket }, plain);
    await expect(refused).rejects.toThrow(/AccessDenied.*explicit deny/i);
  });
});

// Last, since it deletes what the others use.
describe('a deployed app', () => {
  const lifetime = async () => {
    const FunctionName = fixture.physicalId('AWS::Lambda::Function', 'CreateGeneration');
    const { Environment } = await ask('lambda', 'get_function_configuration', { FunctionName });
    return Environment.Variables[environmentVariables.retentionDays];
  };
  /** Why `npm run deploy` would not begin. */
  const stops = async () => {
    const deployment = deploymentFor(fixture.options);
    const targets = stacksToDeploy(deployment, undefined);
    const { findings } = await atEndpoint(fixture.ministack.url, (aws) =>
      preflight({ aws, deployment, targets, newData: false }),
    );
    return findings.filter((finding) => finding.stops).map(({ sentence }) => sentence);
  };
  const remove = (StackName: string) => ask('cloudformation', 'delete_stack', { StackName });
  const unprotect = (StackName: string) => {
    const unprotected = { StackName, EnableTerminationProtection: false };
    return ask('cloudformation', 'update_termination_protection', unprotected);
  };
  const statusOf = async (name: string) => (await fixture.describe(name)).StackStatus as string;

  test('is not changed by deploying it again, which the deploy program would begin', async () => {
    expect(await stops()).toEqual([]);
    const { code, stdout, stderr } = await fixture.deploy(fixture.options);
    const unchanged = `${stdout}${stderr}`.match(/\(no changes\)/g);
    expect([code, unchanged?.length]).toEqual([0, 3]);
  }, 300_000);

  test('keeps table and bucket when the retention of images changes', async () => {
    expect(await lifetime()).toBe('30');
    expect((await fixture.deploy({ ...fixture.options, retentionDays: 20 })).code).toBe(0);
    expect(await lifetime()).toBe('20');
    const { StackStatus: status, Outputs: outputs } = await fixture.describe(fixture.stackName);
    expect(status).toBe('UPDATE_COMPLETE');
    for (const { OutputKey: name, OutputValue: value } of outputs)
      expect([name, value]).toEqual([name, output(name)]);
  }, 300_000);

  test('can not be deleted, until its protection is lifted', async () => {
    await expect(remove(fixture.stackName)).rejects.toThrow(/TerminationProtection/);
    expect(await statusOf(fixture.stackName)).toMatch(/^(CREATE|UPDATE)_COMPLETE$/);
  });

  test("does not lose its endpoint's stack while the service uses it", async () => {
    await unprotect(fixture.modelStackName);
    await expect(remove(fixture.modelStackName)).rejects.toThrow(/in use|imported/i);
    expect(await statusOf(fixture.modelStackName)).not.toMatch(/^DELETE_COMPLETE/);
  });

  test('keeps its records, images, accounts and logs when it is deleted, and nothing of the dashboard', async () => {
    const dashboard = fixture.physicalId('AWS::S3::Bucket', 'Dashboard');
    const accessLog = fixture.physicalId('AWS::Logs::LogGroup', 'ApiAccessLog');
    await unprotect(fixture.stackName);
    const { StackId: stackId } = await fixture.describe(fixture.stackName);
    // MiniStack does not give a bucket its tags, and without this one the CDK's function would not empty it.
    const TagSet = [{ Key: 'aws-cdk:auto-delete-objects', Value: 'true' }];
    await ask('s3', 'put_bucket_tagging', { Bucket: dashboard, Tagging: { TagSet } });
    await remove(fixture.stackName);
    await until('the stack is deleted', async () => !(await statusOf(stackId)).endsWith('_IN_PROGRESS'));
    expect(await statusOf(stackId)).toBe('DELETE_COMPLETE');
    expect((await ask('dynamodb', 'list_tables')).TableNames).toContain(output('TableName'));
    const buckets = (await ask('s3', 'list_buckets')).Buckets.map(({ Name: name }: any) => name);
    expect(buckets).toContain(output('BucketName'));
    expect(buckets).not.toContain(dashboard);
    const { UserPools: pools } = await ask('cognito-idp', 'list_user_pools', { MaxResults: 10 });
    expect(pools.map(({ Id: id }: any) => id)).toContain(output('UserPoolId'));
    const { logGroups: groups } = await ask('logs', 'describe_log_groups', { limit: 50 });
    expect(groups.map(({ logGroupName: name }: any) => name)).toContain(accessLog);
    expect((await ask('lambda', 'list_functions')).Functions).toEqual([]);
  }, 300_000);

  test('is not deployed anew beside the records that it left', async () => {
    // MiniStack gives a bucket no tags.
    const left = new RegExp(`table/${output('TableName')}, .*userpool/${output('UserPoolId')}`);
    expect(await stops()).toEqual([expect.stringMatching(left)]);
  });
});

test('nobody asked for a name that is neither of AWS nor of the deployment', () => {
  expect([...fixture.edge.strangers]).toEqual([]);
});

import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { environmentVariables as names, type VariableName } from '../../shared/base/config.ts';
import { grantsOf, routes } from '../../shared/routes/routes.ts';
import { jobs, type Job } from '../../shared/routes/jobs.ts';
import type { Grants } from '../../shared/routes/grants.ts';
import type { Route } from '../../shared/routes/route.ts';
import { partitions, type Partition } from '../../shared/table/schema.ts';
import {
  functionIdOf,
  isAllowed,
  resolver,
  statementsOf,
  statementsOfRole,
  type Statement,
  type Template,
} from '../support/policies.ts';
import { configurations, type ConfigurationName } from '../support/configurations.ts';
import { templateOf, templatePathsOf } from '../support/stack-templates.ts';
import { listedTableRequests, needsOf } from '../support/table-requests.ts';

// All other permissions, such as the log's and the traces', are in template-summary.txt.
const template = templateOf('everything');
const idOf = (type: string, start = '') =>
  Object.entries(template.Resources).find(([id, { Type }]) => Type === type && id.startsWith(start))![0];
const tableArn = 'arn:table';
const bucketArn = 'arn:bucket';
const previewRoleId = idOf('AWS::IAM::Role', 'Previews');
const resolve = resolver({
  [`${idOf('AWS::DynamoDB::Table')}.Arn`]: tableArn,
  [`${idOf('AWS::S3::Bucket', 'Images')}.Arn`]: bucketArn,
});

interface Row {
  functionName: string;
  grants: Grants;
}

/** The model of this deployment never scales to zero, so what is remembered of cold starts is nobody's. */
function withoutColdStarts({ table = {}, ...grants }: Grants): Grants {
  const { model: _, ...others } = table;
  return { ...grants, table: others };
}

const all = [...Object.values(routes), ...Object.values(jobs)] as (Route | Job)[];
const rows: Row[] = all.map((row) => ({
  functionName: row.functionName,
  grants: withoutColdStarts('method' in row ? grantsOf(row) : row.grants),
}));

const operations = {
  get: 'GetItem',
  batchGet: 'BatchGetItem',
  query: 'Query',
  put: 'PutItem',
  update: 'UpdateItem',
  delete: 'DeleteItem',
} as const;

const statementsFor = (functionName: string) =>
  statementsOf(template, functionIdOf(template, functionName), resolve);
const of = (statements: Statement[], service: string) =>
  statements.filter(({ actions }) => actions.some((action) => action.startsWith(`${service}:`)));

describe.each(rows)('the role of $functionName', ({ functionName, grants }) => {
  const statements = statementsFor(functionName);

  test('allows for each kind of item what its row says, and nothing else', () => {
    for (const partition of Object.keys(partitions) as Partition[]) {
      const place: { leadingKey: string; index?: string } = partitions[partition];
      const resource = place.index ? `${tableArn}/index/${place.index}` : tableArn;
      for (const [action, operation] of Object.entries(operations)) {
        const granted = (grants.table?.[partition] ?? []).includes(action as keyof typeof operations);
        const asked = { action: `dynamodb:${operation}`, resource, leadingKeys: [`${place.leadingKey}x`] };
        expect({ asked, allowed: isAllowed(statements, asked) }).toEqual({ asked, allowed: granted });
      }
    }
  });

  test('allows no request that also reaches other partitions', () => {
    for (const operation of Object.values(operations)) {
      const leadingKeys = ['KEY#x', 'OTHER#x'];
      const asked = { action: `dynamodb:${operation}`, resource: tableArn, leadingKeys };
      expect({ asked, allowed: isAllowed(statements, asked) }).toEqual({ asked, allowed: false });
    }
  });

  test('names no other operation and no other place of the table, and of the bucket exactly what its row says', () => {
    const namedOf = (service: string) =>
      of(statements, service).flatMap(({ actions, resources }) =>
        actions.flatMap((action) => resources.map((resource) => `${action} ${resource}`)),
      );
    const requests = Object.values(operations).flatMap((operation) =>
      ['', '/index/owner', '/index/lease'].map((place) => `dynamodb:${operation} ${tableArn}${place}`),
    );
    expect(namedOf('dynamodb').filter((one) => !requests.includes(one))).toEqual([]);
    const { readObjects = [], writeObjects = [], deleteObjects = [] }: Grants = grants;
    const objects = { GetObject: readObjects, PutObject: writeObjects, DeleteObject: deleteObjects };
    const prefixes = Object.entries(objects).flatMap(([operation, those]) =>
      those.map((prefix) => `s3:${operation} ${bucketArn}/${prefix}`),
    );
    expect(namedOf('s3').toSorted()).toEqual(prefixes.toSorted());
  });

  test('allows streamed requests to the model exactly if its row says so', () => {
    const actions = of(statements, 'sagemaker').flatMap((statement) => statement.actions);
    expect([...new Set(actions)]).toEqual(grants.model ? ['sagemaker:InvokeEndpointWithResponseStream'] : []);
  });

  test('allows the role that signs links to previews exactly if its row says so', () => {
    const asked = { action: 'sts:AssumeRole', resource: `<${previewRoleId}.Arn>` };
    expect(isAllowed(statements, asked)).toBe(grants.previews === true);
    expect(of(statements, 'sts').flatMap(({ resources }) => resources)).toEqual(
      grants.previews === true ? [asked.resource] : [],
    );
  });

  test('allows looking accounts up and sending from the configured address exactly if its row says so', () => {
    const sending = of(statements, 'ses');
    expect(sending.flatMap(({ actions }) => actions)).toEqual(grants.mail ? ['ses:SendEmail'] : []);
    const ends = sending.flatMap(({ resources }) => resources).map((arn) => arn.split(':identity/')[1]);
    expect(ends).toEqual(grants.mail ? ['example.com', 'no-reply@example.com'] : []);
    const looking = of(statements, 'cognito-idp');
    const pool = expect.stringMatching(/^<AccountsUserPool\w*\.Arn>$/);
    expect(looking.flatMap(({ actions, resources }) => [...actions, ...resources])).toEqual(
      grants.accountDirectory ? ['cognito-idp:ListUsers', pool] : [],
    );
  });

  test('allows reading one secret at most: that of Stripe to what applies its events, that of the prompt check to what generates', () => {
    const arnOf = (name: string) => `arn:aws:secretsmanager:eu-west-1:123456789012:secret:${name}-AbC123`;
    const checked = grants.promptCheck ? [arnOf('moderation')] : [];
    const needed = functionName === 'billing-events' ? [arnOf('stripe/reader')] : checked;
    const secrets = of(statements, 'secretsmanager');
    expect(secrets.flatMap(({ actions, resources }) => [...actions, ...resources])).toEqual(
      needed.flatMap((arn) => ['secretsmanager:GetSecretValue', arn]),
    );
  });

  test('allows the call of exactly those functions that its row names', () => {
    const invoking = of(statements, 'lambda');
    const live = ({ functionName: name }: Job) => `<${functionIdOf(template, name)}.Arn>:live`;
    const named = grants.references ? [live(jobs.fetchReferences)] : [];
    expect(new Set(invoking.flatMap(({ actions }) => actions))).toEqual(
      new Set(named.length > 0 ? ['lambda:InvokeFunction'] : []),
    );
    expect(new Set(invoking.flatMap(({ resources }) => resources))).toEqual(new Set(named));
  });
});

test('requests are put into their queue by those whose rows say so', () => {
  const sending = rows.filter(({ functionName }) =>
    of(statementsFor(functionName), 'sqs').some(
      ({ actions, resources }) =>
        actions.includes('sqs:SendMessage') && resources.some((one) => one.includes('WorkerRequests')),
    ),
  );
  expect(sending.map(({ functionName }) => functionName)).toEqual(
    rows.flatMap(({ functionName, grants }) => (grants.queue ? [functionName] : [])),
  );
});

describe('IAM allows each request to the table with all its keys:', () => {
  test.each(listedTableRequests())('$functionName: $line', ({ functionName, request }) => {
    const statements = statementsFor(functionName);
    expect(needsOf(request, tableArn).filter((asked) => !isAllowed(statements, asked))).toEqual([]);
  });
});

describe.each(rows)('the variables of $functionName', ({ functionName, grants }) => {
  const id = functionIdOf(template, functionName);
  const variables = Object.keys(template.Resources[id]!.Properties.Environment.Variables);
  const route = Object.values(routes).find((one) => one.functionName === functionName) as Route | undefined;

  test('are those that it needs, and no others', () => {
    const isWorker = functionName === jobs.runGeneration.functionName;
    const bySession = route?.auth === 'session' || route?.auth === 'key_or_session';
    const generates = route?.streams === true;
    const isBilling = functionName === jobs.billingEvents.functionName;
    const { readObjects, writeObjects, deleteObjects } = grants;
    const needed: Partial<Record<VariableName, boolean>> = {
      [names.tableName]: Object.keys(grants.table ?? {}).length > 0,
      [names.bucketName]: Boolean(readObjects ?? writeObjects ?? deleteObjects),
      [names.referenceFetcherUrl]: grants.references === true,
      [names.generationQueueUrl]: grants.queue === true || isWorker,
      [names.previewRoleArn]: grants.previews === true,
      [names.userPoolId]: grants.accountDirectory === true,
      [names.mailFrom]: grants.mail === true,
      [names.dashboardUrl]: grants.mail === true || functionName === jobs.sweep.functionName,
      [names.modelEndpointName]: grants.model === true,
      // This configuration's model never scales to zero.
      [names.modelComponentName]: false,
      [names.sessionIssuer]: bySession,
      [names.sessionJwksUrl]: bySession,
      [names.sessionClientId]: bySession,
      [names.generationDeadlineSeconds]: generates,
      [names.asyncDeadlineSeconds]: generates,
      [names.retentionDays]: generates,
      // A worker generates, too.
      [names.embedParameters]: generates || isWorker,
      [names.modelNames]: route?.apiFormat === 'openai',
      [names.allowedOrigins]: route !== undefined,
      [names.billingPricesFile]: isBilling,
      [names.stripeKeySecretArn]: isBilling,
      [names.promptCheck]: grants.promptCheck === true,
    };
    const has = Object.keys(needed).map((name) => [name, variables.includes(name)]);
    expect(Object.fromEntries(has)).toEqual(needed);
    const known = [...Object.values(names), 'AWS_NODEJS_CONNECTION_REUSE_ENABLED'] as string[];
    expect(variables.filter((name) => !known.includes(name))).toEqual([]);
  });
});

describe('the role that signs links to previews', () => {
  const { Properties: role } = template.Resources[previewRoleId]!;
  const statements = statementsOfRole(template, previewRoleId, resolve);

  test('may read previews and samples, and nothing else', () => {
    expect(statements.flatMap(({ actions }) => actions)).toEqual(['s3:GetObject']);
    const may = (key: string) => isAllowed(statements, { action: 's3:GetObject', resource: bucketArn + key });
    const keys = ['output-3.png', 'preview-3.webp'].map((file) => `/generations/lic_1/r/${file}`);
    const sample = '/samples/idn_1/0f.webp';
    const others = ['/references/lic_1/r/preview-0', '/adapters/x'];
    expect([...keys, sample, ...others].filter(may)).toEqual([keys[1], sample]);
  });

  test('trusts the functions whose rows say so, and nobody else', () => {
    const [statement, ...others] = role.AssumeRolePolicyDocument.Statement;
    expect([others, Object.keys(statement.Condition)]).toEqual([[], ['ArnEquals']]);
    const roleOf = ({ functionName }: Row) =>
      template.Resources[functionIdOf(template, functionName)]!.Properties.Role;
    const signing = rows.filter(({ grants }) => grants.previews === true).map(roleOf);
    expect(signing).not.toEqual([]);
    expect(statement.Condition.ArnEquals).toEqual({ 'aws:PrincipalArn': signing });
  });
});

test.each(Object.keys(configurations) as ConfigurationName[])(
  "the resources of %s let a service of AWS in for this account's sake alone",
  (name) => {
    const resources = templatePathsOf(name).flatMap((path) => {
      const { Resources } = JSON.parse(readFileSync(path, 'utf8')) as Template;
      return Object.entries(Resources).map(([id, resource]) => ({ id, ...resource }));
    });
    const source = /"aws:Source(Account|Arn)":/i;

    // A role needs no such condition: only who may pass it, which nobody of another account may, gives it to a service.
    const policies = resources.flatMap(({ id, Properties: { PolicyDocument, KeyPolicy } = {} }) =>
      ((PolicyDocument ?? KeyPolicy)?.Statement ?? []).map((statement: any) => ({ id, ...statement })),
    );
    const ofServices = policies.filter(({ Principal }) => Principal?.Service !== undefined);
    expect(ofServices.length).toBeGreaterThanOrEqual(2);
    expect(ofServices.filter(({ Condition }) => !source.test(JSON.stringify(Condition ?? null)))).toEqual([]);
    const permissions = resources.filter(({ Type }) => Type === 'AWS::Lambda::Permission');
    expect(permissions).not.toEqual([]);
    const open = permissions.filter(
      ({ Properties: { SourceArn, SourceAccount } }) => !SourceArn && !SourceAccount,
    );
    expect(open).toEqual([]);
  },
);

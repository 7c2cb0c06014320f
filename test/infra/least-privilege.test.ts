import { describe, expect, test } from '@jest/globals';
import { environmentVariables as names } from '../../shared/config.ts';
import { grantsOf, jobs, routes, type Grants, type Route } from '../../shared/routes.ts';
import { partitions, type Partition } from '../../shared/store/table-keys.ts';
import { functionIdOf, isAllowed, resolver, statementsOf, type Statement } from '../support/policies.ts';
import { templateOf } from '../support/stack.ts';
import { everything } from '../support/synthesized.ts';

const template = templateOf(everything).toJSON() as never as Parameters<typeof functionIdOf>[0];
const idOf = (type: string) => Object.entries(template.Resources).find(([, { Type }]) => Type === type)![0];
const tableArn = 'arn:table';
const bucketArn = 'arn:bucket';
const resolve = resolver({
  [`${idOf('AWS::DynamoDB::Table')}.Arn`]: tableArn,
  [`${bucketId()}.Arn`]: bucketArn,
});

function bucketId(): string {
  return Object.entries(template.Resources).find(
    ([, { Type, Properties }]) =>
      Type === 'AWS::S3::Bucket' && JSON.stringify(Properties).includes('generations/'),
  )![0];
}

interface Row {
  functionName: string;
  grants: Grants;
}

const rows: Row[] = [
  ...Object.values(routes).map((route: Route) => ({
    functionName: route.functionName,
    grants: grantsOf(route),
  })),
  ...Object.values(jobs),
];

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

  test('may do with each kind of item what its row says, and nothing else', () => {
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

  test('may not read the table at large, nor reach past its partitions in one request', () => {
    for (const operation of [
      'Scan',
      'DeleteTable',
      'UpdateTable',
      'ConditionCheckItem',
      'PartiQLSelect',
      'ExportTableToPointInTime',
    ]) {
      expect(
        isAllowed(statements, { action: `dynamodb:${operation}`, resource: tableArn, leadingKeys: [] }),
      ).toBe(false);
    }
    for (const operation of Object.values(operations)) {
      const leadingKeys = ['KEY#x', 'OTHER#x'];
      expect(
        isAllowed(statements, { action: `dynamodb:${operation}`, resource: tableArn, leadingKeys }),
      ).toBe(false);
    }
  });

  test('may touch the prefixes of the bucket that its row says, and no other', () => {
    const { readObjects = [], writeObjects = [] }: Grants = grants;
    for (const prefix of ['generations/', 'adapters/', 'uploads/', '']) {
      const resource = `${bucketArn}/${prefix}x`;
      expect(isAllowed(statements, { action: 's3:GetObject', resource })).toBe(
        readObjects.includes(`${prefix}*`),
      );
      expect(isAllowed(statements, { action: 's3:PutObject', resource })).toBe(
        writeObjects.includes(`${prefix}*`),
      );
    }
    for (const action of ['s3:DeleteObject', 's3:ListBucket', 's3:PutObjectAcl']) {
      expect(isAllowed(statements, { action, resource: bucketArn })).toBe(false);
      expect(isAllowed(statements, { action, resource: `${bucketArn}/generations/x` })).toBe(false);
    }
  });

  test('may ask the model exactly if its row says so, by streams and by nothing else', () => {
    const actions = of(statements, 'sagemaker').flatMap((statement) => statement.actions);
    expect([...new Set(actions)]).toEqual(grants.model ? ['sagemaker:InvokeEndpointWithResponseStream'] : []);
  });

  test('may have reference images fetched exactly if its row says so', () => {
    const invoking = of(statements, 'lambda');
    expect(invoking.flatMap(({ actions }) => actions)).toEqual(
      grants.references ? ['lambda:InvokeFunction'] : [],
    );
    const fetcher = `<${functionIdOf(template, jobs.fetchReferences.functionName)}.Arn>`;
    expect(new Set(invoking.flatMap(({ resources }) => resources))).toEqual(
      new Set(grants.references ? [fetcher] : []),
    );
  });

  test('may write its own log and traces; nothing else is in it', () => {
    const services = new Set(
      statements.flatMap(({ actions }) => actions.map((action) => action.split(':')[0]!)),
    );
    for (const known of ['dynamodb', 's3', 'sagemaker', 'lambda', 'logs', 'xray']) services.delete(known);
    expect([...services]).toEqual(
      functionName === 'billing-events' || functionName === 'sweep' ? ['sqs'] : [],
    );
    const open = statements
      .filter(({ resources }) => resources.includes('*'))
      .flatMap(({ actions }) => actions);
    expect(open.filter((action) => !action.startsWith('xray:'))).toEqual([]);
    expect(statements.flatMap(({ actions }) => actions).filter((action) => action.includes('*'))).toEqual([]);
  });

  test('has no policy of AWS', () => {
    const { Role: role } = template.Resources[functionIdOf(template, functionName)]!.Properties;
    const { ManagedPolicyArns: managed, Policies: inline } =
      template.Resources[role['Fn::GetAtt'][0]]!.Properties;
    expect([managed, inline]).toEqual([undefined, undefined]);
  });
});

describe.each(rows)('the variables of $functionName', ({ functionName, grants }) => {
  const id = functionIdOf(template, functionName);
  const variables = Object.keys(template.Resources[id]!.Properties.Environment.Variables);
  const has = (name: string) => variables.includes(name);
  const route = Object.values(routes).find((one) => one.functionName === functionName) as Route | undefined;

  test('tell it what it needs, and nothing else', () => {
    expect(has(names.tableName)).toBe(Object.keys(grants.table ?? {}).length > 0);
    expect(has(names.bucketName)).toBe(
      [...(grants.readObjects ?? []), ...(grants.writeObjects ?? [])].length > 0,
    );
    expect(has(names.referenceReaderUrl)).toBe(grants.references === true);
    expect(has(names.modelEndpointName)).toBe(grants.model === true);
    const bySession = route?.auth === 'session' || route?.auth === 'key_or_session';
    expect(has(names.sessionIssuer) && has(names.sessionJwksUrl) && has(names.sessionClientId)).toBe(
      bySession,
    );
    expect(has(names.generationDeadlineSeconds) && has(names.retentionDays)).toBe(route?.streams === true);
    expect(has(names.allowedOrigins)).toBe(route !== undefined);
    expect(has(names.billingPricesFile)).toBe(functionName === 'billing-events');
    const known = [...Object.values(names), 'AWS_NODEJS_CONNECTION_REUSE_ENABLED'] as string[];
    expect(variables.filter((name) => !known.includes(name))).toEqual([]);
  });
});

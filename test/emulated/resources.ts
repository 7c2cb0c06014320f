import { describe, expect, test } from '@jest/globals';
import { environmentVariables } from '../../shared/base/config.ts';
import { routes } from '../../shared/routes/routes.ts';
import { tableSchema } from '../../shared/table/schema.ts';
import { isLeftOut } from './left-out.ts';
import { accountId, region } from './ministack.ts';
import type { EmulatedFixture } from './fixture.ts';

/** What the emulator made, asked of each service. */
export function describeResources(fixture: EmulatedFixture): void {
  const ask: EmulatedFixture['ask'] = (...question) => fixture.ask(...question);

  test('the table has the keys and indexes that the stores use, and may not be deleted', async () => {
    const parameters = { TableName: fixture.outputs['TableName'] };
    const { Table: table } = await ask('dynamodb', 'describe_table', parameters);
    const { KeySchema, GlobalSecondaryIndexes } = tableSchema;
    expect(table).toMatchObject({ KeySchema, GlobalSecondaryIndexes });
    await expect(ask('dynamodb', 'delete_table', parameters)).rejects.toThrow(/deletion protection/i);
  });

  test('the API has the endpoints of the table of routes, each with its function', async () => {
    const restApiId = fixture.physicalId('AWS::ApiGateway::RestApi');
    const { items } = await ask('apigateway', 'get_resources', {
      restApiId,
      limit: 500,
      embed: ['methods'],
    });
    const mounted = items.flatMap(({ path, resourceMethods = {} }: any) =>
      Object.entries<any>(resourceMethods)
        // API Gateway itself answers preflights, and what a route refuses.
        .filter(([, { methodIntegration }]) => methodIntegration.type !== 'MOCK')
        .map(([method, { methodIntegration }]) => [
          `${method} ${path}`,
          /function:([^/]+)\//.exec(methodIntegration.uri)![1],
        ]),
    );
    const expected = Object.values(routes).map(({ method, path, functionName }) => [
      `${method} /api/v1${path}`,
      `${fixture.physicalId('AWS::Lambda::Function', pascalCase(functionName))}:live`,
    ]);
    expect(mounted.sort()).toEqual(expected.sort());
  });

  test('every function has its own role, and variables with the real names of the table and the bucket', async () => {
    const made = Object.values(fixture.made.get(fixture.stackName)!);
    const functions = await Promise.all(
      made
        .filter(({ type }) => type === 'AWS::Lambda::Function')
        .map(({ physicalId: FunctionName }) => ask('lambda', 'get_function_configuration', { FunctionName })),
    );
    expect(new Set(functions.map(({ Role: role }) => role)).size).toBe(functions.length);
    const told = (name: string) =>
      new Set(functions.flatMap(({ Environment }) => Environment?.Variables[name] ?? []));
    expect(told(environmentVariables.tableName)).toEqual(new Set([fixture.outputs['TableName']]));
    expect(told(environmentVariables.bucketName)).toEqual(new Set([fixture.outputs['BucketName']]));
  });

  describe('the dashboard', () => {
    test('is served at its own name by CloudFront, with the headers that keep other origins out', async () => {
      const { status, headers, text } = await fixture.edge.send(fixture.outputs['DashboardUrl']!);
      expect([status, headers['content-type']]).toEqual([200, 'text/html']);
      expect(text).toContain('<script');
      expect(headers['content-security-policy']).toContain("default-src 'self'");
      expect(headers['strict-transport-security']).toMatch(/max-age=\d+/);
    });

    test('has a page for every screen, and none for a file that is missing', async () => {
      const page = await fixture.edge.send(new URL('/keys', fixture.outputs['DashboardUrl']).href);
      expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html']);
      const missing = await fixture.edge.send(
        new URL('/assets/none.js', fixture.outputs['DashboardUrl']).href,
      );
      // AWS answers 404, since CloudFront may list the bucket.
      expect(missing.status).toBe(403);
    });
  });

  test('the names of the zone lead to the API and to the dashboard', async () => {
    const [HostedZoneId] = [fixture.options.domain!.hostedZone!.id];
    const { ResourceRecordSets: records } = await ask('route53', 'list_resource_record_sets', {
      HostedZoneId,
    });
    const aliases = records
      .filter(({ AliasTarget: target }: any) => target)
      .map(({ Name, Type, AliasTarget }: any) => [
        Name,
        Type,
        AliasTarget.DNSName.replace(/^.*?(?=execute-api|cloudfront)/, '*.'),
      ]);
    const gateway = `*.execute-api.${region}.amazonaws.com.`;
    expect(aliases.sort()).toEqual([
      ['api.example.com.', 'A', gateway],
      ['api.example.com.', 'AAAA', gateway],
      ['app.example.com.', 'A', '*.cloudfront.net.'],
      ['app.example.com.', 'AAAA', '*.cloudfront.net.'],
    ]);
  });

  test('every alarm tells the topic', async () => {
    const expected = [...fixture.templates.values()]
      .flatMap(({ Resources }) => Object.values(Resources))
      .filter((resource) => resource.Type === 'AWS::CloudWatch::Alarm' && !isLeftOut(resource))
      .filter(({ Properties }) => Properties.AlarmActions !== undefined).length;
    const alarms = [];
    const paginated = await ask('cloudwatch', 'describe_alarms', { MaxRecords: 100 });
    alarms.push(...paginated.MetricAlarms, ...paginated.CompositeAlarms);
    const topic = fixture.outputs['AlarmTopicArn'];
    const ofService = alarms.filter(({ AlarmActions: actions }) => actions.length > 0);
    expect(ofService).toHaveLength(expected);
    expect(new Set(ofService.flatMap(({ AlarmActions: actions }) => actions))).toEqual(new Set([topic]));
  });

  test('nobody reaches the images without a link', async () => {
    const bucket = fixture.outputs['BucketName'];
    const { status } = await fixture.edge.send(`${fixture.edge.url}/${bucket}/generations/x`);
    expect(status).toBe(403);
    const { Policy } = await ask('s3', 'get_bucket_policy', { Bucket: bucket });
    expect(Policy).toContain('aws:SecureTransport');
    expect(Policy).not.toContain(`arn:aws:iam::${accountId}:root`);
  });
}

function pascalCase(name: string): string {
  return name.replace(/(^|-)([a-z])/g, (_, _dash, letter: string) => letter.toUpperCase());
}

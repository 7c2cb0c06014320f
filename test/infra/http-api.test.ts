import { describe, expect, test } from '@jest/globals';
import { environmentVariables } from '../../shared/base/config.ts';
import { errorCodes } from '../../shared/base/errors.ts';
import { gatewayFailures, type GatewayFailure } from '../../shared/routes/gateway-failures.ts';
import { routes } from '../../shared/routes/routes.ts';
import { jobs } from '../../shared/routes/jobs.ts';
import type { Route } from '../../shared/routes/route.ts';
import { answerHeaders, basePath, cors } from '../../shared/routes/api.ts';
import { aliasIdOf, functionIdOf, isAllowed, statementsOfRole, type Template } from '../support/policies.ts';
import { templateOf } from '../support/stack-templates.ts';
import { allProperties, only, plain, propertiesOf } from './resources.ts';

const template = templateOf('everything');
const tuned = templateOf('tuned');
const table: Route[] = Object.values(routes);

/** Every method by `METHOD /path`, below the stage. */
const methodsOf = (of: Template) =>
  new Map(
    allProperties(of, 'AWS::ApiGateway::Method').map((properties) => [
      `${properties.HttpMethod} ${pathOf(of, properties.ResourceId.Ref)}`,
      properties,
    ]),
  );
const methods = methodsOf(template);

function pathOf(of: Template, resourceId: string | undefined): string {
  const resource = resourceId === undefined ? undefined : of.Resources[resourceId];
  if (resource === undefined) return '';
  return `${pathOf(of, resource.Properties.ParentId.Ref)}/${resource.Properties.PathPart}`;
}

/** Headers of every answer that API Gateway gives itself, as it maps them. */
const mapped = (prefix: string, status: number) =>
  Object.fromEntries([
    [`${prefix}.X-Request-Id`, 'context.requestId'],
    ...Object.entries(answerHeaders(status)).map(([name, value]) => [`${prefix}.${name}`, `'${value}'`]),
  ]);

describe.each(table)('$method $path', (route) => {
  const { Integration: integration } = methods.get(`${route.method} ${basePath}${route.path}`)!;

  test('is mounted on its own function, which has its memory, and streams and may take as long as a generation exactly if the table says so', () => {
    const uri = plain(integration.Uri);
    expect(uri).toContain(`functions/<${aliasIdOf(template, route.functionName)}>/`);
    expect(integration.ResponseTransferMode ?? 'BUFFERED').toBe(route.streams ? 'STREAM' : 'BUFFERED');
    expect(uri.includes('response-streaming-invocations')).toBe(route.streams);
    const fn = template.Resources[functionIdOf(template, route.functionName)]!;
    expect(fn.Properties.MemorySize).toBe(route.memoryMb ?? 256);
    const longest = methodsOf(tuned).get(`${route.method} ${basePath}${route.path}`)!;
    const timeouts = [integration, longest.Integration].map(({ TimeoutInMillis }) => TimeoutInMillis);
    expect(timeouts).toEqual(route.streams ? [90_000, 300_000] : [29_000, 29_000]);
  });

  test('calls a function that nothing else may call', () => {
    const aliasId = aliasIdOf(template, route.functionName);
    const { id: apiId } = only(template, 'AWS::ApiGateway::RestApi');
    const called = allProperties(template, 'AWS::Lambda::Permission').filter(
      ({ FunctionName }) => FunctionName.Ref === aliasId,
    );
    const path = `${basePath}${route.path.replaceAll(/\{\w+\}/g, '\\*')}`;
    const source = `:execute-api.*:<${apiId}>/<ApiDeploymentStage\\w+>/${route.method}${path}$`;
    expect(called.map(({ Principal, SourceArn }) => [Principal, plain(SourceArn)])).toEqual(
      route.streams ? [['apigateway.amazonaws.com', expect.stringMatching(source)]] : [],
    );
    const callers = Object.keys(template.Resources).filter(
      (id) =>
        template.Resources[id]!.Type === 'AWS::IAM::Role' &&
        isAllowed(statementsOfRole(template, id, plain), {
          action: 'lambda:InvokeFunction',
          resource: `<${aliasId}>`,
        }),
    );
    expect(callers).toEqual(route.streams ? [] : [integration.Credentials['Fn::GetAtt'][0]]);
    if (route.streams) expect(integration).not.toHaveProperty('Credentials');
  });

  test('answers a preflight of the configured origin', () => {
    const preflight = methods.get(`OPTIONS ${basePath}${route.path}`)!;
    const [{ ResponseParameters: headers }] = preflight.Integration.IntegrationResponses;
    expect(headers).toMatchObject(mapped('method.response.header', 204));
    expect(Object.keys(preflight.MethodResponses[0].ResponseParameters)).toEqual(Object.keys(headers));
    const answer = JSON.stringify(preflight.Integration.IntegrationResponses);
    const origins = ['http://localhost:5173', 'https://app.example.com'];
    for (const part of [route.method, ...origins, ...cors.requestHeaders]) expect(answer).toContain(part);
  });
});

test.each([
  [routes.createGeneration.functionName, environmentVariables.embedParameters, 'false', 'true'],
  [jobs.runGeneration.functionName, environmentVariables.embedParameters, 'false', 'true'],
  [jobs.fetchReferences.functionName, environmentVariables.supportContact, 'help@example.com', ''],
  [routes.getOpenApi.functionName, environmentVariables.supportContact, 'help@example.com', ''],
])('%s knows what the configuration chooses: %s', (functionName, variable, ...chosen) => {
  const known = [template, tuned].map(
    (of) => of.Resources[functionIdOf(of, functionName)]!.Properties.Environment.Variables[variable],
  );
  expect(known).toEqual(chosen);
});

test('what a route has refused is answered 405 without a function, in the shape of the API', () => {
  const refused = table
    .filter(({ refusesOthers }) => refusesOthers)
    .map(({ path }) => `ANY ${basePath}${path}`);
  expect(refused).toEqual([`ANY ${basePath}/mcp`]);
  const { Integration: integration, MethodResponses: responses } = methods.get(refused[0]!)!;
  expect([integration.Type, integration.Uri]).toEqual(['MOCK', undefined]);
  const [{ StatusCode, ResponseParameters: headers, ResponseTemplates }] = integration.IntegrationResponses;
  expect(JSON.parse(ResponseTemplates['application/json'])).toEqual({
    error: expect.stringContaining('Allow'),
    code: 'METHOD_NOT_ALLOWED',
  });
  expect([StatusCode, headers['method.response.header.Allow']]).toEqual(['405', "'POST'"]);
  expect(headers).toMatchObject(mapped('method.response.header', 405));
  expect(Object.keys(responses[0].ResponseParameters)).toEqual(Object.keys(headers));
});

test('nothing else is mounted', () => {
  const expected = table.flatMap(({ method, path, refusesOthers }) =>
    [method, 'OPTIONS', ...(refusesOthers ? ['ANY'] : [])].map((one) => `${one} ${basePath}${path}`),
  );
  expect([...methods.keys()].sort()).toEqual([...new Set(expected)].sort());
});

// That this is every type that API Gateway has is tested in constructs.test.ts.
test.each(Object.entries(gatewayFailures) as [string, GatewayFailure][])(
  "the gateway's own answer %s has the shape of the API and can be read by web pages",
  (type, { code, error, retryAfterSeconds }) => {
    const answers = allProperties(template, 'AWS::ApiGateway::GatewayResponse');
    const answer = answers.find(({ ResponseType }) => ResponseType === type)!;
    expect(JSON.parse(answer.ResponseTemplates['application/json'])).toEqual({ error, code });
    expect(answer.StatusCode).toBe(String(errorCodes[code].status));
    expect(answer.ResponseParameters).toMatchObject({
      ...mapped('gatewayresponse.header', errorCodes[code].status),
      'gatewayresponse.header.Access-Control-Allow-Origin': "'*'",
    });
    expect(answer.ResponseParameters['gatewayresponse.header.Retry-After']).toBe(
      retryAfterSeconds === undefined ? undefined : `'${retryAfterSeconds}'`,
    );
    // OpenAI's SDKs would repeat a request that may have been charged.
    expect(answer.ResponseParameters['gatewayresponse.header.X-Should-Retry']).toBe(
      retryAfterSeconds === undefined ? "'false'" : undefined,
    );
  },
);

describe('the stage', () => {
  const stage = propertiesOf(tuned, 'AWS::ApiGateway::Stage');

  test('is limited as configured and traced, and costs no metric for each method', () => {
    const all = stage.MethodSettings.find(({ ResourcePath: path }: any) => path === '/*');
    expect({ ...all, traced: stage.TracingEnabled }).toMatchObject({
      traced: true,
      HttpMethod: '*',
      ThrottlingRateLimit: 10,
      ThrottlingBurstLimit: 20,
      MetricsEnabled: false,
    });
  });

  test.each([
    ['default', 'where nobody asked for the quota', 100, 200],
    ['small', 'of 224 executions at once', 2240, 4480],
    ['existingEndpoint', 'of 1,000, which is all that API Gateway gives an account', 10_000, 5000],
  ] as const)('of %s takes as much as the account can answer: %s', (name, _, rate, burst) => {
    const { MethodSettings: settings } = propertiesOf(templateOf(name), 'AWS::ApiGateway::Stage');
    const all = settings.find(({ ResourcePath: path }: any) => path === '/*');
    expect(all).toMatchObject({ ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst });
  });

  test('comes after the log group of its errors, which API Gateway would make with lines kept forever', () => {
    const { DependsOn } = only(tuned, 'AWS::ApiGateway::Stage');
    expect(DependsOn).toContainEqual(expect.stringMatching(/^ApiExecutionLog/));
  });

  test.each(table.filter(({ throttle }) => throttle))(
    'gives $method $path a limit of its own',
    ({ method, path, throttle }) => {
      const own = stage.MethodSettings.find(
        ({ ResourcePath, HttpMethod }: any) =>
          HttpMethod === method &&
          ResourcePath.replaceAll('~1', '/').replace(/^\/+/, '/') === `${basePath}${path}`,
      );
      const limit = throttle === 'account' ? { ratePerSecond: 10_000, burst: 5000 } : throttle!;
      expect(own).toMatchObject({
        ThrottlingRateLimit: limit.ratePerSecond,
        ThrottlingBurstLimit: limit.burst,
        DataTraceEnabled: false,
      });
    },
  );

  test('logs no header, no query, no body and no path of a caller', () => {
    const { Format: format } = stage.AccessLogSetting;
    const variables = [...format.matchAll(/\$context\.[\w.]+/g)].map(([variable]) => variable);
    expect(variables.length).toBeGreaterThan(8);
    expect(variables).not.toContain('$context.path');
    expect(format).not.toMatch(
      /authorizer|\$input|\$stageVariables|userAgent|error\.message|validationErrorString/,
    );
    for (const setting of stage.MethodSettings) expect(setting.DataTraceEnabled).toBe(false);
  });
});

test('with a domain the API has its name, by TLS 1.2, and no other address', () => {
  expect(propertiesOf(template, 'AWS::ApiGateway::DomainName').SecurityPolicy).toBe('TLS_1_2');
  const { RestApiId, Stage } = propertiesOf(template, 'AWS::ApiGateway::BasePathMapping');
  const { id: stageId, Properties: stage } = only(template, 'AWS::ApiGateway::Stage');
  expect([RestApiId, Stage]).toEqual([stage.RestApiId, { Ref: stageId }]);
  expect(propertiesOf(template, 'AWS::ApiGateway::RestApi').DisableExecuteApiEndpoint).toBe(true);
  expect(plain(template.Outputs!.BaseUrl.Value)).toMatch(/^https:\/\/<ApiDomain\w+>\/api\/v1$/);
});

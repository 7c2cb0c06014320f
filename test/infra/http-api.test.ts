import { describe, expect, test } from '@jest/globals';
import { errorCodes } from '../../shared/base/errors.ts';
import { gatewayFailures, type GatewayFailure } from '../../shared/routes/gateway-failures.ts';
import { routes } from '../../shared/routes/routes.ts';
import { jobs } from '../../shared/routes/jobs.ts';
import type { Route } from '../../shared/routes/route.ts';
import { answerHeaders, basePath, cors } from '../../shared/routes/api.ts';
import { aliasIdOf, functionIdOf, type Template } from '../support/policies.ts';
import { templateOf } from '../support/stack-templates.ts';
import { allProperties, only, plain, propertiesOf, resourcesOf } from './resources.ts';

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

  test('is mounted on its own function, and streams exactly if the table says so', () => {
    const { ResponseTransferMode: mode = 'BUFFERED', Uri } = integration;
    const uri = plain(Uri);
    expect(uri).toContain(`functions/<${aliasIdOf(template, route.functionName)}>/`);
    expect(mode).toBe(route.streams ? 'STREAM' : 'BUFFERED');
    expect(uri.includes('response-streaming-invocations')).toBe(route.streams);
  });

  test('calls a function that nothing else may call', () => {
    const { id: apiId } = only(template, 'AWS::ApiGateway::RestApi');
    const called = allProperties(template, 'AWS::Lambda::Permission').filter(
      ({ FunctionName }) => FunctionName.Ref === aliasIdOf(template, route.functionName),
    );
    const path = `${basePath}${route.path.replaceAll(/\{\w+\}/g, '*')}`;
    expect(called.map(({ Principal, SourceArn }) => [Principal, plain(SourceArn)])).toEqual([
      [
        'apigateway.amazonaws.com',
        expect.stringMatching(
          `:execute-api:.*:<${apiId}>/<ApiDeploymentStage\\w+>/${route.method}${path.replaceAll('*', '\\*')}$`,
        ),
      ],
    ]);
  });

  test('may take as long as a generation only if it streams', () => {
    const longest = methodsOf(tuned).get(`${route.method} ${basePath}${route.path}`)!;
    const timeouts = [integration, longest.Integration].map(({ TimeoutInMillis }) => TimeoutInMillis);
    expect(timeouts).toEqual(route.streams ? [90_000, 300_000] : [29_000, 29_000]);
  });

  test('answers a preflight of the configured origin', () => {
    const preflight = methods.get(`OPTIONS ${basePath}${route.path}`)!;
    const [{ ResponseParameters: headers }] = preflight.Integration.IntegrationResponses;
    expect(headers).toMatchObject(mapped('method.response.header', 204));
    expect(Object.keys(preflight.MethodResponses[0].ResponseParameters)).toEqual(Object.keys(headers));
    const answer = JSON.stringify(preflight.Integration.IntegrationResponses);
    for (const part of [
      route.method,
      'http://localhost:5173',
      'https://app.example.com',
      ...cors.requestHeaders,
    ]) {
      expect(answer).toContain(part);
    }
  });
});

test('files of images tell the prompt only where the configuration wants it', () => {
  const told = [template, tuned].map((of) => {
    const id = functionIdOf(of, routes.createGeneration.functionName);
    return of.Resources[id]!.Properties.Environment.Variables.EMBED_PARAMETERS;
  });
  expect(told).toEqual(['false', 'true']);
});

test.each([jobs.fetchReferences, routes.getOpenApi])('$functionName is told whom others may ask', (fn) => {
  const [told, silent] = [template, tuned].map((of) => {
    const id = functionIdOf(of, fn.functionName);
    return of.Resources[id]!.Properties.Environment.Variables.SUPPORT_CONTACT;
  });
  expect([told, silent]).toEqual(['help@example.com', '']);
});

test('what a route has refused is answered 405 without a function, in the shape of the API', () => {
  const refused = table
    .filter(({ refusesOthers }) => refusesOthers)
    .map(({ path }) => `ANY ${basePath}${path}`);
  expect(refused).toEqual([`ANY ${basePath}/mcp`]);
  for (const name of refused) {
    const { Integration: integration, MethodResponses: responses } = methods.get(name)!;
    expect([integration.Type, integration.Uri]).toEqual(['MOCK', undefined]);
    const [answer] = integration.IntegrationResponses;
    expect(JSON.parse(answer.ResponseTemplates['application/json'])).toEqual({
      error: expect.stringContaining('Allow'),
      code: 'METHOD_NOT_ALLOWED',
    });
    expect([answer.StatusCode, answer.ResponseParameters['method.response.header.Allow']]).toEqual([
      '405',
      "'POST'",
    ]);
    expect(answer.ResponseParameters).toMatchObject(mapped('method.response.header', 405));
    expect(Object.keys(responses[0].ResponseParameters)).toEqual(Object.keys(answer.ResponseParameters));
  }
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
    expect(stage.TracingEnabled).toBe(true);
    const all = stage.MethodSettings.find(({ ResourcePath: path }: any) => path === '/*');
    expect(all).toMatchObject({
      HttpMethod: '*',
      ThrottlingRateLimit: 10,
      ThrottlingBurstLimit: 20,
      MetricsEnabled: false,
    });
  });

  test('writes its errors to a group that is there first and does not keep its lines forever', () => {
    const { id: apiId } = only(tuned, 'AWS::ApiGateway::RestApi');
    const groups = [...resourcesOf(tuned, 'AWS::Logs::LogGroup')];
    const [id, { Properties: group }] = groups.find(
      ([, { Properties }]) =>
        plain(Properties.LogGroupName) === `API-Gateway-Execution-Logs_<${apiId}>/${stage.StageName}`,
    )!;
    expect(group.RetentionInDays).toBe(30);
    expect(only(tuned, 'AWS::ApiGateway::Stage').DependsOn).toContain(id);
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
  expect(propertiesOf(template, 'AWS::ApiGateway::DomainName')).toMatchObject({
    DomainName: 'api.example.com',
    SecurityPolicy: 'TLS_1_2',
    EndpointConfiguration: { Types: ['REGIONAL'] },
  });
  const { RestApiId, Stage } = propertiesOf(template, 'AWS::ApiGateway::BasePathMapping');
  const { RestApiId: apiOfStage } = propertiesOf(template, 'AWS::ApiGateway::Stage');
  expect(plain(RestApiId)).toBe(plain(apiOfStage));
  expect(template.Resources[Stage.Ref]?.Type).toBe('AWS::ApiGateway::Stage');
  expect(propertiesOf(template, 'AWS::ApiGateway::RestApi').DisableExecuteApiEndpoint).toBe(true);
  expect(plain(template.Outputs!.BaseUrl.Value)).toMatch(/^https:\/\/<ApiDomain\w+>\/api\/v1$/);
  const records = allProperties(template, 'AWS::Route53::RecordSet').filter(
    ({ Name }) => Name === 'api.example.com.',
  );
  expect(records.map(({ Type }) => Type).toSorted()).toEqual(['A', 'AAAA']);
});

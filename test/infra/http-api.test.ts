import { describe, expect, test } from '@jest/globals';
import { ResponseType } from 'aws-cdk-lib/aws-apigateway';
import { errorCodes } from '../../shared/errors.ts';
import { gatewayFailures, type GatewayFailure } from '../../shared/gateway-failures.ts';
import { basePath, cors, routes, type Route } from '../../shared/routes.ts';
import { templateOf } from '../support/stack.ts';
import { everything } from '../support/synthesized.ts';

const template = templateOf({ generationDeadlineSeconds: 120, allowedOrigins: ['http://localhost:5173'] });
const json = template.toJSON();
const table: Route[] = Object.values(routes);

/** Every method by `METHOD /path`, below the stage. */
const methods = new Map(
  Object.values(template.findResources('AWS::ApiGateway::Method')).map(({ Properties }) => [
    `${Properties.HttpMethod} ${pathOf(Properties.ResourceId.Ref)}`,
    Properties,
  ]),
);

function pathOf(resourceId: string | undefined): string {
  const resource = resourceId === undefined ? undefined : json.Resources[resourceId];
  if (resource === undefined) return '';
  return `${pathOf(resource.Properties.ParentId.Ref)}/${resource.Properties.PathPart}`;
}

describe.each(table)('$method $path', (route) => {
  const method = methods.get(`${route.method} ${basePath}${route.path}`)!;

  test('is mounted on the function of its own', () => {
    const integration = JSON.stringify(method.Integration.Uri);
    const functions = template.findResources('AWS::Lambda::Function', {
      Properties: { Description: `Image Generation Service: ${route.functionName}` },
    });
    expect(Object.keys(functions)).toHaveLength(1);
    expect(integration).toContain(Object.keys(functions)[0]);
  });

  test('streams exactly if the table says so, and may take as long as a generation only then', () => {
    const { ResponseTransferMode: mode = 'BUFFERED', TimeoutInMillis: timeoutMs } = method.Integration;
    expect(mode).toBe(route.streams ? 'STREAM' : 'BUFFERED');
    expect(timeoutMs).toBe(route.streams ? 150_000 : 29_000);
    expect(JSON.stringify(method.Integration.Uri).includes('response-streaming-invocations')).toBe(
      route.streams,
    );
  });

  test('answers a preflight of the dashboard and of the configured origin', () => {
    const preflight = methods.get(`OPTIONS ${basePath}${route.path}`)!;
    const answer = JSON.stringify(preflight.Integration.IntegrationResponses);
    expect(answer).toContain(route.method);
    expect(answer).toContain('http://localhost:5173');
    for (const header of cors.requestHeaders) expect(answer).toContain(header);
  });
});

test('nothing else is mounted', () => {
  const expected = table.flatMap(({ method, path }) => [
    `${method} ${basePath}${path}`,
    `OPTIONS ${basePath}${path}`,
  ]);
  expect([...methods.keys()].sort()).toEqual([...new Set(expected)].sort());
});

describe('what the gateway answers by itself', () => {
  const answers = Object.values(template.findResources('AWS::ApiGateway::GatewayResponse')).map(
    ({ Properties }) => Properties,
  );
  const known = Object.values(ResponseType as unknown as Record<string, { responseType?: string }>)
    .map((type) => type?.responseType)
    .filter((type): type is string => typeof type === 'string');

  test('is decided for every type that there is', () => {
    expect(known.length).toBeGreaterThan(15);
    expect(answers.map(({ ResponseType: type }) => type).sort()).toEqual([...new Set(known)].sort());
  });

  test.each(Object.entries(gatewayFailures) as [string, GatewayFailure][])(
    '%s is in the shape of the API, readable for web pages',
    (type, { code, error, retryAfterSeconds }) => {
      const answer = answers.find((one) => one.ResponseType === type)!;
      expect(JSON.parse(answer.ResponseTemplates['application/json'])).toEqual({ error, code });
      expect(answer.StatusCode).toBe(String(errorCodes[code].status));
      expect(answer.ResponseParameters).toMatchObject({
        'gatewayresponse.header.X-Request-Id': 'context.requestId',
        'gatewayresponse.header.Access-Control-Allow-Origin': "'*'",
      });
      expect(answer.ResponseParameters['gatewayresponse.header.Retry-After']).toBe(
        retryAfterSeconds === undefined ? undefined : `'${retryAfterSeconds}'`,
      );
    },
  );
});

describe('the stage', () => {
  const [stage] = Object.values(template.findResources('AWS::ApiGateway::Stage')).map(
    ({ Properties }) => Properties,
  );

  test('is limited and traced, and costs no metric for each method', () => {
    expect(stage.TracingEnabled).toBe(true);
    const all = stage.MethodSettings.find(({ ResourcePath: path }: any) => path === '/*');
    expect(all).toMatchObject({
      HttpMethod: '*',
      ThrottlingRateLimit: 100,
      ThrottlingBurstLimit: 200,
      MetricsEnabled: false,
    });
  });

  test.each(table.filter(({ throttle }) => throttle))(
    'limits $method $path further',
    ({ method, path, throttle }) => {
      const own = stage.MethodSettings.find(
        ({ ResourcePath, HttpMethod }: any) =>
          HttpMethod === method &&
          ResourcePath.replaceAll('~1', '/').replace(/^\/+/, '/') === `${basePath}${path}`,
      );
      expect(own).toMatchObject({
        ThrottlingRateLimit: throttle!.ratePerSecond,
        ThrottlingBurstLimit: throttle!.burst,
        DataTraceEnabled: false,
      });
    },
  );

  test('logs no header, no query, no body and no path that a caller wrote', () => {
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

describe('with a domain', () => {
  const own = templateOf(everything);

  test('the API has its name, by TLS 1.2, and no other address', () => {
    own.hasResourceProperties('AWS::ApiGateway::DomainName', {
      DomainName: 'api.example.com',
      SecurityPolicy: 'TLS_1_2',
      EndpointConfiguration: { Types: ['REGIONAL'] },
    });
    own.hasResourceProperties('AWS::ApiGateway::RestApi', { DisableExecuteApiEndpoint: true });
    const parts: unknown[] = own.toJSON().Outputs.BaseUrl.Value['Fn::Join'][1];
    expect(parts).toEqual(['https://', { Ref: expect.stringContaining('Domain') }, basePath]);
  });

  test('the zone has records for both kinds of addresses', () => {
    for (const Type of ['A', 'AAAA']) {
      own.hasResourceProperties('AWS::Route53::RecordSet', { Type, Name: 'api.example.com.' });
    }
  });
});

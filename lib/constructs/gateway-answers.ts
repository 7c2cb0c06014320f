import {
  GatewayResponse,
  MockIntegration,
  PassthroughBehavior,
  ResponseType,
  type IResource,
  type IRestApi,
  type RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import { errorCodes } from '../../shared/base/errors.ts';
import { gatewayFailures, methodFailure, type GatewayFailure } from '../../shared/routes/gateway-failures.ts';
import { answerHeaders, cors } from '../../shared/routes/api.ts';

/** Gives API Gateway's own errors the format of the API's errors, with CORS headers. */
export function addGatewayAnswers(restApi: RestApi): void {
  for (const [type, failure] of Object.entries(gatewayFailures) as [string, GatewayFailure][]) {
    const { code, error, retryAfterSeconds } = failure;
    const { status } = errorCodes[code];
    new GatewayResponse(restApi, `Answer-${type}`, {
      // `exactOptionalPropertyTypes` of this project does not fit the CDK's types.
      restApi: restApi as IRestApi,
      type: ResponseType.of(type),
      statusCode: String(status),
      responseHeaders: {
        ...gatewayHeaders(status),
        'Cache-Control': "'no-store'",
        // These answers hold no secret, so any origin may read them.
        'Access-Control-Allow-Origin': "'*'",
        'Access-Control-Expose-Headers': `'${cors.responseHeaders.join(', ')}'`,
        // OpenAI's SDKs repeat unless a header says not to. What API Gateway gave up on may have been charged.
        ...(retryAfterSeconds === undefined
          ? { 'X-Should-Retry': "'false'" }
          : { 'Retry-After': `'${retryAfterSeconds}'` }),
      },
      templates: { 'application/json': JSON.stringify({ error, code }) },
    });
  }
}

/** Has every method that is not mounted answered 405 without a function: by API Gateway itself, in the shape of its other answers. */
export function refuseOthers(resource: IResource, allowed: string): void {
  const headers = {
    Allow: `'${allowed}'`,
    'Cache-Control': "'no-store'",
    'Access-Control-Allow-Origin': "'*'",
  };
  const { error, code } = methodFailure;
  answerItself(resource, 'ANY', errorCodes[code].status, headers, JSON.stringify({ error, code }));
}

/** Answers the preflights of a path, whose methods these are, for pages of these origins. */
export function answerPreflight(
  resource: IResource,
  methods: readonly string[],
  origins: readonly string[],
): void {
  const headers = {
    'Access-Control-Allow-Headers': `'${cors.requestHeaders.join(',')}'`,
    'Access-Control-Allow-Methods': `'${methods.join(',')}'`,
    'Access-Control-Allow-Origin': `'${origins[0]}'`,
    'Access-Control-Max-Age': `'${cors.maxAgeSeconds}'`,
    Vary: "'Origin'",
  };
  answerItself(resource, 'OPTIONS', 204, headers, namingOrigin(origins));
}

/**
 * Has API Gateway answer a method itself, without a function.
 * @param headers beside those of every answer, as API Gateway maps them
 */
function answerItself(
  resource: IResource,
  method: string,
  status: number,
  headers: Record<string, string>,
  template: string,
): void {
  const parameters = <Value>(valueOf: (value: string) => Value) =>
    Object.fromEntries(
      Object.entries({ ...headers, ...gatewayHeaders(status) }).map(([name, value]) => [
        `method.response.header.${name}`,
        valueOf(value),
      ]),
    );
  const integration = new MockIntegration({
    requestTemplates: { 'application/json': JSON.stringify({ statusCode: status }) },
    passthroughBehavior: PassthroughBehavior.WHEN_NO_TEMPLATES,
    integrationResponses: [
      {
        statusCode: String(status),
        responseParameters: parameters((value) => value),
        responseTemplates: { 'application/json': template },
      },
    ],
  });
  resource.addMethod(method, integration, {
    methodResponses: [{ statusCode: String(status), responseParameters: parameters(() => true) }],
  });
}

/** A template that writes nothing, and names the origin that asked if it is one of these. */
function namingOrigin(origins: readonly string[]): string {
  return [
    '#set($origin = $input.params().header.get("Origin"))',
    // HTTP/2 writes names in lower case.
    '#if($origin == "")#set($origin = $input.params().header.get("origin"))#end',
    `#if(${origins.map((origin) => `$origin == "${origin}"`).join(' || ')})`,
    '#set($context.responseOverride.header.Access-Control-Allow-Origin = $origin)',
    '#end',
  ].join('\n');
}

/** The headers of every answer that API Gateway makes itself, as it maps them: a text stands in quotes. */
function gatewayHeaders(status: number): Record<string, string> {
  const fixed = Object.entries(answerHeaders(status)).map(([name, value]) => [name, `'${value}'`]);
  return { 'X-Request-Id': 'context.requestId', ...Object.fromEntries(fixed) };
}

import { GatewayResponse, ResponseType, type IRestApi, type RestApi } from 'aws-cdk-lib/aws-apigateway';
import { errorCodes } from '../../shared/base/errors.ts';
import { gatewayFailures, type GatewayFailure } from '../../shared/routes/gateway-failures.ts';
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
        // OpenAI's SDKs repeat unless told. What API Gateway gave up on may have been charged.
        ...(retryAfterSeconds === undefined
          ? { 'X-Should-Retry': "'false'" }
          : { 'Retry-After': `'${retryAfterSeconds}'` }),
      },
      templates: { 'application/json': JSON.stringify({ error, code }) },
    });
  }
}

/** The headers of every answer that API Gateway makes itself, as it maps them: a text stands in quotes. */
export function gatewayHeaders(status: number): Record<string, string> {
  const fixed = Object.entries(answerHeaders(status)).map(([name, value]) => [name, `'${value}'`]);
  return { 'X-Request-Id': 'context.requestId', ...Object.fromEntries(fixed) };
}

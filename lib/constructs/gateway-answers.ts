import { GatewayResponse, ResponseType, type IRestApi, type RestApi } from 'aws-cdk-lib/aws-apigateway';
import { errorCodes } from '../../shared/errors.ts';
import { gatewayFailures, type GatewayFailure } from '../../shared/gateway-failures.ts';
import { cors } from '../../shared/routes.ts';

/** Renders every failure of the gateway's own as the API renders errors, readable for web pages too. */
export function addGatewayAnswers(restApi: RestApi): void {
  for (const [type, failure] of Object.entries(gatewayFailures) as [string, GatewayFailure][]) {
    const { code, error, retryAfterSeconds } = failure;
    new GatewayResponse(restApi, `Answer-${type}`, {
      // Its types don't say that a property may be undefined.
      restApi: restApi as IRestApi,
      type: ResponseType.of(type),
      statusCode: String(errorCodes[code].status),
      responseHeaders: {
        'X-Request-Id': 'context.requestId',
        'Cache-Control': "'no-store'",
        // These texts are the same for everyone; the functions name the origins that they answer to.
        'Access-Control-Allow-Origin': "'*'",
        'Access-Control-Expose-Headers': `'${cors.responseHeaders.join(', ')}'`,
        ...(retryAfterSeconds === undefined ? {} : { 'Retry-After': `'${retryAfterSeconds}'` }),
      },
      templates: { 'application/json': JSON.stringify({ error, code }) },
    });
  }
}

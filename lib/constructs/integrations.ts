import { LambdaIntegration, ResponseTransferMode } from 'aws-cdk-lib/aws-apigateway';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Function as LambdaFunction, type IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Duration } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { Route } from '../../shared/routes/route.ts';
import type { ServiceFunction } from './service-function.ts';
import { WholeRole } from './whole-role.ts';

/** How an API calls the functions of its routes ([why](../../docs/decisions/0048-a-role-of-the-api.md)). */
export class Integrations {
  private readonly role: WholeRole;

  constructor(scope: Construct) {
    this.role = new WholeRole(scope, 'Caller', {
      description: 'Image Generation Service: the API calls its functions with it',
      // Without a condition: API Gateway sends no `aws:SourceAccount` here, so with one on it every call would end in 500.
      assumedBy: new ServicePrincipal('apigateway.amazonaws.com'),
    });
  }

  of(route: Route, { live }: ServiceFunction, timeout: Duration): LambdaIntegration {
    if (route.streams) {
      const responseTransferMode = ResponseTransferMode.STREAM;
      // By a permission of the function's, as AWS's guide to response streaming has it.
      return new LambdaIntegration(live as IFunction, {
        timeout,
        allowTestInvoke: false,
        responseTransferMode,
      });
    }
    const functionArn = live.functionArn;
    this.role.addToPolicy(
      new PolicyStatement({ actions: ['lambda:InvokeFunction'], resources: [functionArn] }),
    );
    const called = LambdaFunction.fromFunctionAttributes(live, 'OfApi', {
      functionArn,
      skipPermissions: true,
    });
    return new LambdaIntegration(called, { timeout, credentialsRole: this.role });
  }
}

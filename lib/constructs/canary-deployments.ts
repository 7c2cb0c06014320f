import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { accept } from './accepted-findings.ts';
import type { ServiceFunction } from './service-function.ts';

export interface CanaryDeploymentsProps {
  readonly functions: readonly ServiceFunction[];
  /** A deployment is taken back if one of them starts. CodeDeploy allows ten. */
  readonly alarms: readonly Alarm[];
}

/**
 * Gives a changed function 10% of its calls for five minutes, then all of them. All functions of a deployment do so side by
 * side. If an alarm starts meanwhile, CodeDeploy sends the calls to the old code again, and CloudFormation rolls the whole
 * deployment back.
 */
export class CanaryDeployments extends Construct {
  constructor(scope: Construct, id: string, { functions, alarms }: CanaryDeploymentsProps) {
    super(scope, id);
    const application = new LambdaApplication(this, 'Application');
    const role = new Role(this, 'Role', {
      description: 'CodeDeploy moves the functions to their next version with it',
      assumedBy: new ServicePrincipal('codedeploy.amazonaws.com'),
    });
    accept(role, {
      'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]':
        'The policy that AWS made for exactly this: CodeDeploy moves aliases and reads alarms with it, and nothing else can assume the role.',
    });
    for (const fn of functions) {
      new LambdaDeploymentGroup(this, fn.node.id, {
        application,
        role,
        alias: fn.live,
        deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
        alarms: [...alarms],
      });
    }
  }
}

import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import { accept } from './accepted-findings.ts';
import type { RowAlarm } from './monitoring/board.ts';
import type { ServiceFunction } from './service-function.ts';

/**
 * Gives a changed function 10% of its calls for five minutes, then all of them. All such functions of a deployment do so side
 * by side; the others change at once, because CodeDeploy asks Lambda about each again and again, and fails where thirty
 * together ask more than Lambda answers (davidgf/serverless-plugin-canary-deployments, issue 159). If an alarm starts meanwhile,
 * CodeDeploy sends the calls to the old code again, and CloudFormation rolls the whole deployment back.
 */
export class CanaryDeployments extends Construct {
  /** @param alarms by the function whose deployment they take back, ten of each at most (CodeDeploy API, "AlarmConfiguration") */
  constructor(scope: Construct, id: string, alarms: ReadonlyMap<ServiceFunction, readonly RowAlarm[]>) {
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
    for (const [fn, its] of alarms) {
      new LambdaDeploymentGroup(this, fn.node.id, {
        application,
        role,
        alias: fn.live,
        deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
        alarms: its.map(({ alarm }) => alarm),
      });
    }
  }
}

import type { Resource } from '../support/policies.ts';

const noScaling = 'It has no Application Auto Scaling for endpoints.';
const noModels =
  'It has no SageMaker. The engine of `local/sagemaker`, with the painter behind it, has the endpoint.';
const noCanary = 'It has no CodeDeploy: an alias moves at once.';
const noResolver = 'It has no DNS firewall.';

/** The types that MiniStack's CloudFormation does not know, each with what that means. */
export const leftOut: ReadonlyMap<string, string> = new Map([
  ['AWS::ApplicationAutoScaling::ScalableTarget', noScaling],
  ['AWS::ApplicationAutoScaling::ScalingPolicy', noScaling],
  ['AWS::Backup::BackupSelection', 'Vault and plan are made; no plan selects the table.'],
  ['AWS::Budgets::Budget', 'It has budgets, but CloudFormation does not make them.'],
  ['AWS::CodeDeploy::Application', noCanary],
  ['AWS::CodeDeploy::DeploymentGroup', noCanary],
  ['AWS::Cognito::ManagedLoginBranding', 'Its sign-in page is its own.'],
  ['AWS::Logs::QueryDefinition', 'It stores no queries.'],
  ['AWS::Route53Resolver::FirewallDomainList', noResolver],
  ['AWS::Route53Resolver::FirewallRuleGroup', noResolver],
  ['AWS::Route53Resolver::FirewallRuleGroupAssociation', noResolver],
  ['AWS::SageMaker::Endpoint', noModels],
  ['AWS::SageMaker::EndpointConfig', noModels],
  ['AWS::SageMaker::Model', noModels],
  ['AWS::WAFv2::LoggingConfiguration', 'It applies no rules of the firewall.'],
  ['AWS::WAFv2::WebACLAssociation', 'It applies no rules of the firewall.'],
]);

/** Besides those types, alarms that compute with several metrics: MiniStack knows alarms on one metric only. */
export function isLeftOut({ Type: type, Properties }: Resource): boolean {
  return leftOut.has(type) || (type === 'AWS::CloudWatch::Alarm' && Properties.Metrics !== undefined);
}

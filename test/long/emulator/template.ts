import type { Template } from '../../support/policies.ts';
import { accountId, region } from './moto.ts';

/** The types that moto's CloudFormation does not know. */
export const leftOut: ReadonlySet<string> = new Set([
  'AWS::ApiGateway::Account',
  'AWS::ApiGateway::BasePathMapping',
  'AWS::ApiGateway::DomainName',
  'AWS::ApiGateway::GatewayResponse',
  'AWS::ApiGateway::Stage',
  'AWS::Backup::BackupPlan',
  'AWS::Backup::BackupSelection',
  'AWS::Backup::BackupVault',
  'AWS::Budgets::Budget',
  'AWS::CloudFront::Distribution',
  'AWS::CloudFront::Function',
  'AWS::CloudFront::OriginAccessControl',
  'AWS::CloudFront::ResponseHeadersPolicy',
  'AWS::CloudWatch::Alarm',
  'AWS::CodeDeploy::Application',
  'AWS::CodeDeploy::DeploymentGroup',
  'AWS::Cognito::ManagedLoginBranding',
  'AWS::Cognito::UserPool',
  'AWS::Cognito::UserPoolClient',
  'AWS::Cognito::UserPoolDomain',
  'AWS::Lambda::Alias',
  'AWS::Lambda::EventInvokeConfig',
  'AWS::Logs::QueryDefinition',
  'AWS::S3::BucketPolicy',
  'AWS::SNS::Subscription',
  'AWS::SNS::TopicPolicy',
  'AWS::SQS::QueuePolicy',
  'AWS::Scheduler::Schedule',
  'AWS::Scheduler::ScheduleGroup',
  'AWS::WAFv2::LoggingConfiguration',
  'AWS::WAFv2::WebACL',
  'AWS::WAFv2::WebACLAssociation',
]);

/** A placeholder for the `Ref` or an attribute of a resource that is not in the emulated template. */
function standIn(logicalId: string, attribute: string): string {
  const name = `standin-${logicalId}-${attribute}-`;
  return attribute.endsWith('Arn') ? `arn:aws:standin:${region}:${accountId}:${name}` : name;
}

/** A copy of the template with the resources of some types only. References to the others become stand-ins. */
export function templateWith(template: Template, isKept: (type: string) => boolean): Template {
  const kept = Object.entries(template.Resources).filter(([, { Type: type }]) => isKept(type));
  const resources = Object.fromEntries(kept);
  const others = Object.keys(template.Resources).filter((logicalId) => !(logicalId in resources));
  const withoutAliases = callingFunctions({ ...template, Resources: resources }, template);
  return withStandIns(withoutAliases, new Set(others));
}

/** moto knows no aliases, so what calls one calls the function itself. */
function callingFunctions(value: any, { Resources: resources }: Template): any {
  const copy = JSON.stringify(value).replaceAll(/\{"Ref":"(\w+)"\}/g, (reference, id: string) => {
    const { Type: type, Properties: properties } = resources[id] ?? {};
    if (type !== 'AWS::Lambda::Alias') return reference;
    return JSON.stringify({ 'Fn::GetAtt': [properties.FunctionName.Ref, 'Arn'] });
  });
  return JSON.parse(copy.replaceAll('":live"', '""'));
}

function withStandIns(value: any, others: ReadonlySet<string>): any {
  if (Array.isArray(value)) return value.map((item) => withStandIns(item, others));
  if (value === null || typeof value !== 'object') return value;
  // The model's stack is not in the emulator.
  if ('Fn::ImportValue' in value) return 'standin-model';
  const { Ref: reference, 'Fn::GetAtt': attribute, DependsOn: dependsOn } = value;
  if (others.has(reference)) return standIn(reference, 'Ref');
  if (Array.isArray(attribute) && others.has(attribute[0])) return standIn(attribute[0], attribute[1]);
  const copy = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withStandIns(member, others)]),
  );
  if (dependsOn) copy.DependsOn = [dependsOn].flat().filter((logicalId: string) => !others.has(logicalId));
  // moto 5.2.5 requires of mock integrations what only other integrations have.
  const isMock = value.Type === 'MOCK' && value.IntegrationResponses !== undefined;
  return isMock ? { IntegrationHttpMethod: 'POST', Uri: '', ...copy } : copy;
}

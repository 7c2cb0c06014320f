import type { Template } from '../../support/policies.ts';
import { accountId, region } from './moto.ts';
import { completedByHand, isLeftOut } from './left-out.ts';

/** moto 5.2.5 makes these and can't say what they are called. */
const nameless = new Set(['AWS::ApiGateway::Deployment']);
const resolvedOutput = 'Resolved';

/** What stands for a value that moto's CloudFormation can't give: the `Ref` or an attribute of a resource that it leaves out. */
export function standIn(logicalId: string, attribute: string): string {
  const name = `standin-${logicalId}-${attribute}-`;
  return attribute.endsWith('Arn') ? `arn:aws:standin:${region}:${accountId}:${name}` : name;
}

/**
 * A copy of the template as moto's CloudFormation can take it. Resources of types that it does not know go, what
 * refers to them gets stand-ins, and outputs are added that have CloudFormation resolve the properties that are done by hand.
 */
export function emulatedTemplate(template: Template): Template {
  const all = Object.entries(template.Resources);
  const kept = all.filter(([, { Type: type }]) => !isLeftOut(type));
  const withoutName = all.filter(([, { Type: type }]) => isLeftOut(type) || nameless.has(type));
  const byHand = all.filter(([, { Type: type }]) => isLeftOut(type) || type in completedByHand);
  const resolved = byHand.map(([logicalId, { Properties: properties }]) => [
    `${resolvedOutput}${logicalId}`,
    { Value: { 'Fn::ToJsonString': properties ?? {} } },
  ]);
  const copy = {
    ...template,
    Resources: Object.fromEntries(kept),
    Outputs: { ...(template as any).Outputs, ...Object.fromEntries(resolved) },
  };
  return withStandIns(copy, new Set(withoutName.map(([logicalId]) => logicalId)));
}

function withStandIns(value: any, withoutName: Set<string>): any {
  if (Array.isArray(value)) return value.map((item) => withStandIns(item, withoutName));
  if (value === null || typeof value !== 'object') return value;
  const { Ref: reference, 'Fn::GetAtt': attribute, DependsOn: dependsOn, ...members } = value;
  if (withoutName.has(reference)) return standIn(reference, 'Ref');
  if (Array.isArray(attribute) && withoutName.has(attribute[0])) return standIn(attribute[0], attribute[1]);
  const copy = Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, withStandIns(member, withoutName)]),
  );
  if (dependsOn)
    copy['DependsOn'] = [dependsOn].flat().filter((logicalId: string) => !withoutName.has(logicalId));
  return repaired({ ...copy }, members);
}

/** moto 5.2.5 demands of integrations that answer by themselves what only those that call something have. */
function repaired(copy: any, { Type: type, IntegrationResponses: answers }: any): any {
  return type === 'MOCK' && answers ? { IntegrationHttpMethod: 'POST', Uri: '', ...copy } : copy;
}

/** The properties of the resources that are done by hand, by logical id, with whatever was left open. */
export function resolvedProperties(outputs: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(outputs)
      .filter(([name]) => name.startsWith(resolvedOutput))
      .map(([name, value]) => [name.slice(resolvedOutput.length), value]),
  );
}

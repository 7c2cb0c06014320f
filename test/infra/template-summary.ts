import { readFileSync, writeFileSync } from 'node:fs';
import type { Resource, Template } from '../support/policies.ts';
import { modelTemplateOf, networkTemplateOf, templateOf } from '../support/stack-templates.ts';
import { versionEnd } from './monitored.ts';
import { plain, resourcesOf } from './resources.ts';
import { inRepository } from '../support/repository.ts';

/**
 * What a reviewer should see of a changed stack: how many resources of each type, and every permission that no row of routes
 * or jobs grants. `npx node test/infra/template-summary.ts --write` writes it to
 * the file that a test compares.
 */
export const summaryPath = inRepository('test/infra/template-summary.txt');

/**
 * The logical ids that must never change, one in a line: of what holds data, because another id means another, empty resource;
 * and of what has a fixed name, because CloudFormation makes the new resource first and would find the name taken. The same
 * command adds lines for new resources. It removes none.
 */
export const keptIdsPath = inRepository('test/infra/kept-ids.txt');

const dataTypes = new Set([
  'AWS::Backup::BackupVault',
  'AWS::Cognito::UserPool',
  'AWS::DynamoDB::Table',
  'AWS::KMS::Key',
  'AWS::S3::Bucket',
  'AWS::SQS::Queue',
]);

/**
 * The property with a resource's own name, by type, where no other resource may have the same. The CDK makes other names
 * from logical ids.
 */
const nameProperties: Record<string, string> = {
  'AWS::ApiGateway::DomainName': 'DomainName',
  'AWS::ApplicationAutoScaling::ScalingPolicy': 'PolicyName',
  'AWS::Backup::BackupVault': 'BackupVaultName',
  'AWS::CloudFront::OriginAccessControl': 'OriginAccessControlConfig.Name',
  'AWS::CloudFront::ResponseHeadersPolicy': 'ResponseHeadersPolicyConfig.Name',
  'AWS::CloudWatch::Alarm': 'AlarmName',
  'AWS::CloudWatch::Dashboard': 'DashboardName',
  'AWS::Cognito::UserPoolDomain': 'Domain',
  'AWS::Logs::LogGroup': 'LogGroupName',
  'AWS::Logs::QueryDefinition': 'Name',
  'AWS::Route53::RecordSet': 'Name',
  'AWS::SageMaker::Endpoint': 'EndpointName',
  'AWS::SageMaker::InferenceComponent': 'InferenceComponentName',
};

/** Lines by the title of their section. */
type Sections = Map<string, string[]>;

export function templateSummary(): string {
  const [all, byDefault] = [sectionsOf(templateOf('everything')), sectionsOf(templateOf('default'))];
  for (const [title, lines] of sectionsOf(networkTemplateOf('everything')))
    all.set(`Network: ${title}`, lines);
  for (const [title, lines] of sectionsOf(modelTemplateOf('everything'))) all.set(`Model: ${title}`, lines);
  for (const [title, lines] of sectionsOf(modelTemplateOf('atZero'))) {
    all.set(`A model that may be scaled to zero: ${title}`, lines);
  }
  const titles = [...new Set([...all.keys(), ...byDefault.keys()])];
  const parts = titles.map((title) => {
    const [lines, defaultLines] = [all.get(title) ?? [], byDefault.get(title) ?? []];
    const merged = [...new Set([...lines, ...defaultLines])].toSorted().map((line) => {
      const mark = !defaultLines.includes(line) ? '+' : lines.includes(line) ? ' ' : '-';
      return `${mark} ${line}\n`;
    });
    return `${title}\n${merged.join('') || '  nothing more\n'}`;
  });
  return [
    'The stacks with every option. Lines with "+" are not in the default stack, lines with "-" only there.\n',
    ...parts,
  ].join('\n');
}

function sectionsOf(template: Template): Sections {
  const [functions, otherRoles] = rolesOf(template);
  const common = intersection([...functions.values()]);
  const own = [...functions].flatMap(([name, lines]) =>
    lines.filter((line) => !common.includes(line) && !isGranted(line)).map((line) => `${name}: ${line}`),
  );
  return new Map([
    ['Types', typeCounts(template)],
    ['Every function', common],
    ['One function, beside what its row of routes or jobs grants', own],
    ...otherRoles,
    ['Policies of resources', resourcePolicies(template)],
  ]);
}

/** Tests hold these to the rows, each for each function: least-privilege.test.ts and http-api.test.ts. */
function isGranted(line: string): boolean {
  return /^((dynamodb|s3|sagemaker|sts|ses|cognito-idp|secretsmanager|lambda):|called by apigateway)/.test(
    line,
  );
}

function typeCounts({ Resources: resources }: Template): string[] {
  const byType = Map.groupBy(Object.values(resources), ({ Type }) => Type);
  return [...byType].map(([type, those]) => `${type} ${those.length}`);
}

/** A line says the stack, the type, the id, what is kept on deletion and on replacement, and the fixed name. */
export function keptIds(): string[] {
  const lines = [
    ...keptIn('service', templateOf('everything')),
    ...keptIn('service', templateOf('atZero')),
    ...keptIn('model', modelTemplateOf('everything')),
    ...keptIn('model-at-zero', modelTemplateOf('atZero')),
  ];
  return [...new Set(lines)].toSorted();
}

function keptIn(stack: string, { Resources: resources }: Template): string[] {
  return Object.entries(resources).flatMap(([id, resource]) => {
    const { Type, DeletionPolicy = 'Delete', UpdateReplacePolicy = 'Delete' } = resource;
    const name = nameOf(resource);
    const kept = DeletionPolicy === 'Delete' ? [] : [`${DeletionPolicy}/${UpdateReplacePolicy}`];
    if (!dataTypes.has(Type) && kept.length === 0 && name === undefined) return [];
    return [[stack, Type, id, ...kept, ...(name === undefined ? [] : [name])].join(' ')];
  });
}

function nameOf({ Type, Properties }: Resource): string | undefined {
  const path = nameProperties[Type]?.split('.');
  const name = path?.reduce((value, key) => value?.[key], Properties);
  // Those alarms have another name for each version of their function.
  if (name && versionEnd.test(plain(name))) return undefined;
  return (
    name && plain(name).replace(/\bimage-generation-(test|night)(-model-g6-xlarge)?(-zero)?\b/, '<stack>')
  );
}

/** What each role may do and who may use it: the functions' roles by the function's name, then the others. */
function rolesOf(template: Template): [functions: Sections, others: Sections] {
  const [functions, others]: [Sections, Sections] = [new Map(), new Map()];
  const functionsByRole = new Map(
    [...resourcesOf(template, 'AWS::Lambda::Function')].map(([id, { Properties }]) => [
      Properties.Role['Fn::GetAtt'][0],
      { id, name: String(Properties.Description ?? '').split(': ')[1] },
    ]),
  );
  for (const [roleId, role] of resourcesOf(template, 'AWS::IAM::Role')) {
    const fn = functionsByRole.get(roleId);
    const permissions = permissionsOf(template, (used) => used.Ref === roleId);
    const lines = [...trustOf(role), ...permissions, ...callersOf(template, fn?.id)]
      // The log group of each function has a name of its own.
      .map((line: string) => line.replace(/<\w+Log\.Arn>/, '<its own log>'));
    if (fn?.name) functions.set(fn.name, lines);
    else others.set(`Role ${readable(roleId)}`, lines.map(readable));
  }
  const ofAnother = permissionsOf(template, (used) => 'Fn::ImportValue' in used);
  if (ofAnother.length > 0) others.set('A role of another stack', ofAnother);
  return [functions, others];
}

function trustOf({ Properties }: Resource): string[] {
  const {
    AssumeRolePolicyDocument: trust,
    ManagedPolicyArns: managed = [],
    Policies: inline = [],
  } = Properties;
  return [
    ...trust.Statement.map((statement: any) => `used by ${principalOf(statement)}${conditionOf(statement)}`),
    ...managed.map((arn: unknown) => `managed policy ${plain(arn).split('iam::aws:policy/')[1]}`),
    ...inline.flatMap(({ PolicyDocument: policy }: any) => policy.Statement.map(statementLine)),
  ].map(readable);
}

function permissionsOf(template: Template, isMeant: (role: any) => boolean): string[] {
  return [...resourcesOf(template, 'AWS::IAM::Policy').values()]
    .filter(({ Properties }) => Properties.Roles.some(isMeant))
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement.map(statementLine));
}

function callersOf(template: Template, functionId: string | undefined): string[] {
  const callers = [...resourcesOf(template, 'AWS::Lambda::Permission').values()]
    .filter(({ Properties }) => calledFunctionId(template, Properties.FunctionName) === functionId)
    .map(({ Properties }) =>
      readable(`called by ${Properties.Principal} from ${plain(Properties.SourceArn)}`),
    );
  return [...new Set(callers)];
}

/** The logical id of the function that a permission is for, by itself or by its alias. */
function calledFunctionId(template: Template, called: any): string | undefined {
  const id = called.Ref ?? called['Fn::GetAtt']?.[0];
  return template.Resources[id]?.Type === 'AWS::Lambda::Alias'
    ? template.Resources[id].Properties.FunctionName.Ref
    : id;
}

function resourcePolicies(template: Template): string[] {
  return Object.entries(template.Resources)
    .filter(([, { Type }]) => Type !== 'AWS::IAM::Policy')
    .flatMap(([id, { Properties: { PolicyDocument: document, KeyPolicy: keyPolicy } = {} as any }]) =>
      ((document ?? keyPolicy)?.Statement ?? []).map(
        (statement: any) => `${readable(id)}: ${principalOf(statement)}: ${statementLine(statement)}`,
      ),
    );
}

function statementLine(statement: any): string {
  const { Effect: effect, Action: actions, Resource: resources } = statement;
  const denied = effect === 'Deny' ? 'DENY ' : '';
  return readable(`${denied}${plain(actions)} on ${plain(resources)}${conditionOf(statement)}`);
}

function principalOf({ Principal: principal }: any): string {
  return readable(typeof principal === 'string' ? principal : plain(Object.values(principal)));
}

function conditionOf({ Condition: condition }: any): string {
  const tests = Object.entries(condition ?? {}).flatMap(([operator, keys]) =>
    Object.entries(keys as object).map(([key, values]) => `${operator} ${key} ${plain(values)}`),
  );
  return tests.length === 0 ? '' : ` if ${tests.join(' and ')}`;
}

/** Logical ids without the CDK's hash of eight characters, and no names of the stage. */
function readable(text: string): string {
  return text
    .replace(/\b([A-Z]\w*?)[0-9A-F]{8}\b/g, '$1')
    .replace(/<ApiDeploymentStage\w+>/g, '<stage>')
    .replace(/\bimage-generation-(prod|test)\b/g, '<stack>')
    .replaceAll('<AWS::Partition>', 'aws')
    .replaceAll('<AWS::Region>:<AWS::AccountId>', '');
}

function intersection([first = [], ...others]: string[][]): string[] {
  return first.filter((line) => others.every((lines) => lines.includes(line)));
}

if (process.argv[1] === import.meta.filename && process.argv.includes('--write')) {
  writeFileSync(summaryPath, templateSummary());
  const known = readFileSync(keptIdsPath, 'utf8').trimEnd().split('\n');
  writeFileSync(keptIdsPath, `${[...new Set([...known, ...keptIds()])].toSorted().join('\n')}\n`);
}

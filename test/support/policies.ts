/** A statement of a role's policy, with every reference resolved. */
export interface Statement {
  effect: string;
  actions: string[];
  resources: string[];
  /** Operator → key → values. */
  conditions: Record<string, Record<string, string[]>>;
}

export interface Asked {
  action: string;
  resource: string;
  /** The partition keys of the requested items. */
  leadingKeys?: string[];
}

export interface Resource {
  Type: string;
  Properties: any;
  DependsOn?: string[];
  DeletionPolicy?: string;
  UpdateReplacePolicy?: string;
}

/** A synthesized template. */
export interface Template {
  Resources: Record<string, Resource>;
  Outputs?: Record<string, any>;
}

export type Resolve = (value: unknown) => string;

/**
 * Resolves CloudFormation's intrinsic functions, as far as policies and variables use them. A reference that is not in
 * `known` (by logical id, by `id.attribute` or by the name of an export) becomes
 * `<id>`, `<id.attribute>` or `<export>`.
 */
export function resolver(known: Record<string, string>): Resolve {
  const lookUp = (name: string) => known[name] ?? `<${name}>`;
  const resolve = (value: any): string => {
    if (typeof value !== 'object' || value === null) return String(value);
    if ('Ref' in value) return lookUp(value.Ref);
    if ('Fn::ImportValue' in value) return lookUp(value['Fn::ImportValue']);
    if ('Fn::GetAtt' in value) return lookUp(value['Fn::GetAtt'].join('.'));
    if ('Fn::Join' in value) return value['Fn::Join'][1].map(resolve).join(value['Fn::Join'][0]);
    throw new Error(`an intrinsic function that this test does not know: ${JSON.stringify(value)}`);
  };
  return resolve;
}

/** The logical id of the only resource of a type whose properties are as wanted. @throws if there are none or several. */
export function idOf(
  template: Template,
  type: string,
  isWanted: (properties: any) => boolean = () => true,
): string {
  const found = Object.entries(template.Resources).filter(
    ([, { Type, Properties }]) => Type === type && isWanted(Properties),
  );
  if (found.length !== 1) throw new Error(`${found.length} resources are ${type} as wanted`);
  return found[0]![0];
}

/** The logical id of the function of a file in `functions/`. */
export function functionIdOf(template: Template, functionName: string): string {
  const isMadeOfIt = ({ Description }: any) => String(Description).endsWith(`: ${functionName}`);
  return idOf(template, 'AWS::Lambda::Function', isMadeOfIt);
}

/** The logical id of the alias by which everything calls a function. */
export function aliasIdOf(template: Template, functionName: string): string {
  const functionId = functionIdOf(template, functionName);
  const isIts = ({ FunctionName, Name }: any) => FunctionName.Ref === functionId && Name === 'live';
  return idOf(template, 'AWS::Lambda::Alias', isIts);
}

/** The statements of all policies of a function's role. */
export function statementsOf(template: Template, functionId: string, resolve: Resolve): Statement[] {
  const roleId: string = template.Resources[functionId]!.Properties.Role['Fn::GetAtt'][0];
  return statementsOfRole(template, roleId, resolve);
}

/** The statements of all policies of a role. */
export function statementsOfRole(template: Template, roleId: string, resolve: Resolve): Statement[] {
  const beside = Object.values(template.Resources).filter(
    ({ Type, Properties }) =>
      Type === 'AWS::IAM::Policy' && Properties.Roles.some((role: any) => role.Ref === roleId),
  );
  const inside: any[] = template.Resources[roleId]!.Properties.Policies ?? [];
  return [...beside.map(({ Properties }) => Properties), ...inside]
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement as any[])
    .map((statement) => ({
      effect: statement.Effect,
      actions: [statement.Action].flat(),
      resources: [statement.Resource].flat().map(resolve),
      conditions: mapValues(statement.Condition ?? {}, (keys: Record<string, unknown>) =>
        mapValues(keys, (values: unknown) => [values].flat().map(resolve)),
      ),
    }));
}

function mapValues<From, To>(of: Record<string, From>, change: (value: From) => To): Record<string, To> {
  return Object.fromEntries(Object.entries(of).map(([name, value]) => [name, change(value)]));
}

/** Whether IAM would allow it: one statement allows it and none denies it. */
export function isAllowed(statements: Statement[], asked: Asked): boolean {
  const matching = statements.filter((statement) => matches(statement, asked));
  return matching.length > 0 && matching.every(({ effect }) => effect === 'Allow');
}

function matches({ actions, resources, conditions }: Statement, asked: Asked): boolean {
  return (
    actions.some((action) => isLike(asked.action, action)) &&
    resources.some((resource) => isLike(asked.resource, resource)) &&
    Object.entries(conditions).every(([operator, keys]) =>
      Object.entries(keys).every(([key, values]) => holds(operator, key, values, asked)),
    )
  );
}

function holds(operator: string, key: string, values: string[], asked: Asked): boolean {
  if (operator !== 'ForAllValues:StringLike' || key !== 'dynamodb:LeadingKeys') {
    throw new Error(`a condition that this test does not know: ${operator} ${key}`);
  }
  return (asked.leadingKeys ?? []).every((leadingKey) => values.some((value) => isLike(leadingKey, value)));
}

/** `*` matches any text, also slashes. */
function isLike(text: string, pattern: string): boolean {
  const escaped = pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*');
  return new RegExp(`^${escaped}$`, 's').test(text);
}

/** The permissions for the table, the bucket, the model and other functions that no request used. */
export function unusedOf(statements: Statement[], asked: Asked[]): string[] {
  return statements
    .flatMap(({ actions, resources, conditions }) => {
      const leadingKeys = conditions['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] ?? ['*'];
      return actions.flatMap((action) =>
        resources.flatMap((resource) => leadingKeys.map((leadingKey) => ({ action, resource, leadingKey }))),
      );
    })
    .filter(({ action }) => /^(dynamodb|s3|sagemaker|lambda):/.test(action))
    .filter((granted) => !asked.some((wish) => uses(wish, granted)))
    .map(({ action, resource, leadingKey }) => `${action} on ${resource}, keys ${leadingKey}`);
}

function uses(
  { action, resource, leadingKeys = [''] }: Asked,
  granted: { action: string; resource: string; leadingKey: string },
): boolean {
  return (
    isLike(action, granted.action) &&
    isLike(resource, granted.resource) &&
    leadingKeys.some((leadingKey) => isLike(leadingKey, granted.leadingKey))
  );
}

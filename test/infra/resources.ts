import type { Resource, Template } from '../support/policies.ts';

/** The resources of a type, by logical id. */
export function resourcesOf(template: Template, type: string): Map<string, Resource> {
  return new Map(Object.entries(template.Resources).filter(([, { Type }]) => Type === type));
}

/** The only resource of a type. @throws Error if there are none or several. */
export function only(template: Template, type: string): Resource & { id: string } {
  const [[id, resource] = [], ...others] = resourcesOf(template, type);
  if (!resource || others.length > 0) throw new Error(`${others.length + 1} or none of ${type}`);
  return { id: id!, ...resource };
}

/** The properties of the only resource of a type. */
export const propertiesOf = (template: Template, type: string): any => only(template, type).Properties;

/** The properties of every resource of a type. */
export const allProperties = (template: Template, type: string): any[] =>
  [...resourcesOf(template, type).values()].map(({ Properties }) => Properties);

/** Text with every reference to a resource as `<logicalId>` or `<logicalId.Attribute>`. */
export function plain(value: any): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return String(value);
  if (Array.isArray(value)) return value.map(plain).join(', ');
  if ('Ref' in value) return `<${value.Ref}>`;
  if ('Fn::GetAtt' in value) return `<${value['Fn::GetAtt'].join('.')}>`;
  if ('Fn::ImportValue' in value) return `<${value['Fn::ImportValue']}>`;
  if ('Fn::Join' in value) return value['Fn::Join'][1].map(plain).join(value['Fn::Join'][0]);
  if ('Fn::Sub' in value) return value['Fn::Sub'];
  return `{${Object.entries(value)
    .map(([name, member]) => `${name}: ${plain(member)}`)
    .join(', ')}}`;
}

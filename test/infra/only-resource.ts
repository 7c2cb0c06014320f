import { expect } from '@jest/globals';
import type { Template } from 'aws-cdk-lib/assertions';

/** The one resource of a type, which must have no other beside it. */
export function onlyResource(template: Template, type: string) {
  const [resource, ...others] = Object.values(template.findResources(type));
  expect(others).toEqual([]);
  return resource!;
}

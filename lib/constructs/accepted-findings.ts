import { Validations } from 'aws-cdk-lib/core';
import type { IConstruct } from 'constructs';

/** Accepts findings of the security checks for a construct and its children, each with a reason. */
export function accept(construct: IConstruct, reasons: Readonly<Record<string, string>>): void {
  for (const [id, reason] of Object.entries(reasons)) Validations.of(construct).acknowledge({ id, reason });
}

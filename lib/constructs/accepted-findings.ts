import { Validations } from 'aws-cdk-lib/core';
import type { IConstruct } from 'constructs';

/** Findings of the security checks that are accepted for a construct and what is in it, each with its reason. */
export function accept(construct: IConstruct, reasons: Readonly<Record<string, string>>): void {
  for (const [id, reason] of Object.entries(reasons)) Validations.of(construct).acknowledge({ id, reason });
}

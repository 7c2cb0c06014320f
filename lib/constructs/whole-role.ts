import {
  PolicyDocument,
  Role,
  type AddToPrincipalPolicyResult,
  type PolicyStatement,
  type RoleProps,
} from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';

/** Has its permissions in itself. A policy beside each role would be one more of the 500 resources that a stack may have. */
export class WholeRole extends Role {
  private readonly granted: PolicyDocument;

  constructor(scope: Construct, id: string, props: RoleProps) {
    const granted = new PolicyDocument();
    super(scope, id, { ...props, inlinePolicies: { granted } });
    this.granted = granted;
  }

  override addToPrincipalPolicy(statement: PolicyStatement): AddToPrincipalPolicyResult {
    this.granted.addStatements(statement);
    return { statementAdded: true, policyDependable: this };
  }
}

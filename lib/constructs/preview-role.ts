import { Lazy, Stack } from 'aws-cdk-lib/core';
import { AccountRootPrincipal, Policy, PolicyStatement, PrincipalWithConditions } from 'aws-cdk-lib/aws-iam';
import type { Bucket, CfnBucket } from 'aws-cdk-lib/aws-s3';
import { Construct } from 'constructs';
import { environmentVariables } from '../../shared/base/config.ts';
import type { Grants } from '../../shared/routes/grants.ts';
import { accept } from './accepted-findings.ts';
import type { ServiceFunction } from './service-function.ts';
import { WholeRole } from './whole-role.ts';

/** Why the role may read each of these. */
const patterns = {
  'generations/*/preview-*':
    'Previews lie below the license and the request that they belong to, which are not known before a request comes.',
  'samples/*': 'Samples lie below the identity that they belong to. Operators make identities.',
};

/**
 * The role that signs links to previews and samples. It may read these and nothing else. Lambda gives each process credentials
 * of its own, and links that are signed by two of them differ; the credentials of this role are shared.
 */
export class PreviewRole extends Construct {
  private readonly role: WholeRole;
  private readonly signers: string[] = [];
  /** Beside the roles of its signers: it names this role, whose condition names theirs. */
  private readonly use: Policy;

  constructor(scope: Construct, id: string, { images }: { images: Bucket }) {
    super(scope, id);
    // IAM refuses a policy that names a role as a principal before that role is known everywhere. A condition may name it.
    const signers = { 'aws:PrincipalArn': Lazy.list({ produce: () => this.signers }) };
    this.role = new WholeRole(this, 'Role', {
      description: 'Image Generation Service: signs links to previews and samples',
      assumedBy: new PrincipalWithConditions(new AccountRootPrincipal(), { ArnEquals: signers }),
    });
    this.role.addToPolicy(
      new PolicyStatement({
        actions: ['s3:GetObject'],
        resources: Object.keys(patterns).map((pattern) => images.arnForObjects(pattern)),
      }),
    );
    this.use = new Policy(this, 'Use', {
      statements: [new PolicyStatement({ actions: ['sts:AssumeRole'], resources: [this.role.roleArn] })],
    });
    const bucketId = Stack.of(this).getLogicalId(images.node.defaultChild as CfnBucket);
    for (const [pattern, reason] of Object.entries(patterns)) {
      accept(this.role, { [`AwsSolutions-IAM5[Resource::<${bucketId}.Arn>/${pattern}]`]: reason });
    }
  }

  grant(fn: ServiceFunction, { previews }: Pick<Grants, 'previews'>): void {
    if (!previews) return;
    fn.setVariable(environmentVariables.previewRoleArn, this.role.roleArn);
    this.signers.push(fn.role!.roleArn);
    this.use.attachToRole(fn.role!);
  }
}

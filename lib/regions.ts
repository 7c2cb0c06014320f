/**
 * The regions where CloudFormation has no resource type that an option brings. A test of test/long compares this with the schemas
 * that cfn-lint has of each region.
 */
export const regionsWithout: Record<string, readonly string[]> = {
  'AWS::Budgets::Budget':
    'af-south-1 ap-east-1 ap-east-2 ap-northeast-3 ap-south-2 ap-southeast-3 ap-southeast-4 ap-southeast-5 ap-southeast-6 ap-southeast-7 ca-west-1 eu-central-2 eu-north-1 eu-south-1 eu-south-2 il-central-1 me-central-1 mx-central-1 us-gov-east-1 us-gov-west-1'.split(
      ' ',
    ),
  'AWS::SageMaker::InferenceComponent':
    'af-south-1 ap-east-1 ap-east-2 ap-northeast-3 ap-south-2 ap-southeast-4 ap-southeast-5 ap-southeast-6 ap-southeast-7 ca-west-1 cn-north-1 cn-northwest-1 eu-central-2 eu-south-1 eu-south-2 eu-west-3 il-central-1 mx-central-1 us-gov-east-1 us-gov-west-1 us-west-1'.split(
      ' ',
    ),
};

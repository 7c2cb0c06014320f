export const account = '000000000000';
export const region = 'us-east-1';

/** Of an endpoint or an inference component. */
export function modelArn(kind: string, name: string): string {
  return `arn:aws:sagemaker:${region}:${account}:${kind}/${name}`;
}

export function functionArn(name: string): string {
  return `arn:aws:lambda:${region}:${account}:function:${name}`;
}

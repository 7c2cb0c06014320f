import { awsUrl, signedFetch, type SigningConfig } from './signed-fetch.ts';

/** With the list that it is for, ten times, within the time of a function that works on ten events. */
const withinMs = 1500;

/**
 * Reads the text of a secret of AWS Secrets Manager (AWS Secrets Manager API, "GetSecretValue").
 * @param secretsUrl where it is not AWS's own.
 * @returns a function that throws errors whose messages hold nothing of a secret.
 */
export function secretReader(config: SigningConfig, secretsUrl: string | null) {
  return async (arn: string): Promise<string> => {
    const region = arn.split(':')[3]!;
    const send = signedFetch('secretsmanager', { ...config, region: async () => region });
    const answer = await send({
      url: secretsUrl ?? awsUrl('secretsmanager', region),
      headers: {
        'content-type': 'application/x-amz-json-1.1',
        'x-amz-target': 'secretsmanager.GetSecretValue',
      },
      body: JSON.stringify({ SecretId: arn }),
      withinMs,
    }).catch(() => {
      throw new Error('Secrets Manager could not be reached');
    });
    const body = (await answer.json().catch(() => null)) as { SecretString?: unknown } | null;
    if (!answer.ok) throw new Error(`Secrets Manager answered with status ${answer.status}`);
    if (typeof body?.SecretString !== 'string') throw new Error('the secret has no text');
    return body.SecretString;
  };
}

import { S3Client } from '@aws-sdk/client-s3';
import type { LinkCredentials } from './previews.ts';
import { awsUrl, signedFetch } from '../base/signed-fetch.ts';

const withinMs = 2000;
/** The longest that AWS gives to whoever is itself such a role (IAM, "role chaining"). */
const sessionSeconds = 3600;

/**
 * The role that signs links to previews, the only thing that it may do (AWS STS API, "AssumeRole").
 * @param stsUrl of the token service, where it is not AWS's own.
 */
export function previewRole(roleArn: string, stsUrl: string | null) {
  const { config } = new S3Client({});
  const send = signedFetch('sts', config);

  return {
    /** @throws where the token service gives no credentials. */
    async assume(): Promise<LinkCredentials> {
      const parameters = {
        Action: 'AssumeRole',
        Version: '2011-06-15',
        RoleArn: roleArn,
        RoleSessionName: 'previews',
        DurationSeconds: String(sessionSeconds),
      };
      const answer = await send({
        url: stsUrl ?? awsUrl('sts', await config.region()),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(parameters).toString(),
        withinMs,
      });
      const text = await answer.text();
      if (!answer.ok) throw new Error(`the token service answered with status ${answer.status}`);
      return {
        accessKeyId: valueOf(text, 'AccessKeyId'),
        secretAccessKey: valueOf(text, 'SecretAccessKey'),
        sessionToken: valueOf(text, 'SessionToken'),
      };
    },
  };
}

/** Reads one element of XML. Credentials have none of the characters that XML escapes. */
function valueOf(xml: string, name: string): string {
  const value = new RegExp(`<${name}>([^<]+)</${name}>`).exec(xml)?.[1];
  if (value === undefined) throw new Error(`the token service answered without ${name}`);
  return value;
}

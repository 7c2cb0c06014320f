import { S3Client } from '@aws-sdk/client-s3';
import { awsUrl, signedFetch } from '../base/signed-fetch.ts';

const withinMs = 5000;
/** Below SES's address. */
const sendEmailPath = '/v2/email/outbound-emails';
/** Refusals with a status of 400 that pass: too many mails, or sending is paused. */
const passing = ['LimitExceededException', 'SendingPausedException', 'TooManyRequestsException'];

export interface Mail {
  to: string;
  subject: string;
  text: string;
  html: string;
  /** Where such mails are switched off. */
  unsubscribeUrl: string;
}

/** SES does not take this mail, and won't take it later unless the operator changes something. */
export class MailRefused extends Error {
  override name = 'MailRefused';
}

export type Mailer = ReturnType<typeof mailer>;

/**
 * Sends mails by Amazon SES (Amazon SES API v2, "SendEmail"). It has no idempotency key: when its answer is lost, the mail
 * may have been sent.
 * @param sesUrl where it is not AWS's own.
 */
export function mailer(from: string, sesUrl: string | null) {
  // Any client knows the region and the credentials.
  const { config } = new S3Client({});
  const send = signedFetch('ses', config);

  return {
    /** @throws MailRefused, or an error that passes. Neither names an address. */
    async send(mail: Mail): Promise<void> {
      const answer = await send({
        url: new URL(sendEmailPath, sesUrl ?? awsUrl('email', await config.region())).href,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(requestOf(from, mail)),
        withinMs,
      });
      // Its message may repeat an address.
      await answer.body?.cancel();
      if (answer.ok) return;
      const type = /^\w+/.exec(answer.headers.get('x-amzn-errortype') ?? '')?.[0] ?? '';
      const sentence = `SES answered with status ${answer.status} ${type}`.trimEnd();
      const isPassing = answer.status === 429 || answer.status >= 500 || passing.includes(type);
      throw isPassing ? new Error(sentence) : new MailRefused(sentence);
    },
  };
}

function requestOf(from: string, { to, subject, text, html, unsubscribeUrl }: Mail): object {
  const content = (Data: string) => ({ Data, Charset: 'UTF-8' });
  return {
    FromEmailAddress: from,
    Destination: { ToAddresses: [to] },
    Content: {
      Simple: {
        Subject: content(subject),
        Body: { Text: content(text), Html: content(html) },
        Headers: [
          { Name: 'List-Unsubscribe', Value: `<${unsubscribeUrl}>` },
          // No automatic answers, please (RFC 3834).
          { Name: 'Auto-Submitted', Value: 'auto-generated' },
        ],
      },
    },
  };
}

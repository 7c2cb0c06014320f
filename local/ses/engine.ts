import { randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AwsFault, startRest } from '../http/rest.ts';
import type { RunningServer } from '../http/server.ts';
import type { SigningScope } from '../http/signed.ts';
import { readMail, toMessage } from './message.ts';

export interface SesOptions extends Omit<SigningScope, 'service'> {
  /** Where mails are written; made with the first one. */
  folder: string;
  /** Called with the path of each mail once it is written. */
  onMail?: (path: string) => void;
}

/** Starts SES's SendEmail. Nothing is sent: each mail is a file that mail programs open. */
export function startSes({ folder, onMail, ...signing }: SesOptions): Promise<RunningServer> {
  const options = {
    ...signing,
    service: 'ses',
    maxBodyBytes: 1024 * 1024,
    signatureFault: 'SignatureDoesNotMatch',
  };
  return startRest(options, async ({ method, url }, body) => {
    if (method !== 'POST' || url !== '/v2/email/outbound-emails') {
      throw new AwsFault('UnknownOperationException', 'This engine serves SendEmail.', 404);
    }
    const mail = readMail(body.toString());
    if (typeof mail === 'string') throw new AwsFault('BadRequestException', mail);
    const MessageId = randomUUID();
    const now = new Date();
    await mkdir(folder, { recursive: true });
    const path = join(folder, `${now.toISOString().replaceAll(':', '-')}-${MessageId.slice(0, 8)}.eml`);
    await writeFile(path, toMessage(mail, MessageId, now), { mode: 0o600 });
    onMail?.(path);
    return { status: 200, value: { MessageId } };
  });
}

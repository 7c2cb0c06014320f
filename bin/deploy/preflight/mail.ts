import {
  GetAccountCommand,
  GetEmailIdentityCommand,
  NotFoundException,
  SESv2Client,
} from '@aws-sdk/client-sesv2';
import { mailIdentities } from '../../../lib/configuration.ts';
import { ask, cliCommand, type Aws } from '../aws.ts';
import { wasCreated } from '../stacks.ts';
import { note, stop, type Check, type Finding, type Plan, type Ses } from './check.ts';

/** Cognito's own sender is for trials (Amazon Cognito, "Quotas": 50 a day for an account). */
const ofCognito = "codes and invitations come from Cognito's own address, 50 a day at most";
const soFromCognito = `so ${ofCognito}`;

/** @returns null where no e-mails are sent from an address, or the service is not deployed. */
export async function readSes({ aws, deployment, targets }: Plan): Promise<Ses | null> {
  const { configuration, stackName } = deployment;
  if (configuration.mail === null || !targets.includes(stackName)) return null;
  const [account, ...statuses] = await Promise.all([
    ask(aws, SESv2Client, (client, options) => client.send(new GetAccountCommand({}), options)),
    ...mailIdentities(configuration.mail.from).map(
      async (identity) => [identity, await statusOf(aws, identity)] as const,
    ),
  ]);
  return { account, statuses: new Map(statuses) };
}

/** The identity by which the sign-in pages' e-mails reach everybody; null where SES would refuse some of them. */
export function senderOf(ses: Ses | null): string | null {
  if (!ses?.account.ProductionAccessEnabled || !ses.account.SendingEnabled) return null;
  return [...ses.statuses].find(([, status]) => status === 'SUCCESS')?.[0] ?? null;
}

/** Whether SES sends from the configured address, and to everybody. */
export const mail: Check = {
  subject: `whether SES can send e-mails from the configured address, without which ${ofCognito}`,
  permission: 'ses:GetEmailIdentity and ses:GetAccount',
  async run({ aws, deployment }, { ses }) {
    const found = await ses;
    if (found === null) return [];
    const { from } = deployment.configuration.mail!;
    return [...checkIdentity(aws, from, found), ...checkAccount(aws, found)];
  },
  async unanswered({ deployment: { stackName } }, { stacks }) {
    const stack = (await stacks.catch(() => null))?.get(stackName);
    if (stack !== undefined && !wasCreated(stack)) return null;
    return 'The service that is there may send by SES, which this deployment would end: deploy later, or with the permissions ses:GetAccount and ses:GetEmailIdentity.';
  },
};

function checkIdentity(aws: Aws, from: string, { statuses }: Ses): Finding[] {
  const [domain] = mailIdentities(from);
  const found = [...statuses.values()];
  if (found.includes('SUCCESS')) return [];
  const { region } = aws.settings;
  const see = cliCommand(aws, `sesv2 get-email-identity --email-identity ${domain}`);
  // Only an identity that was verified before gets this. A fix of the service must not wait for DNS.
  if (found.includes('TEMPORARY_FAILURE')) {
    return note(
      `SES could not confirm ${domain} again in ${region}, and may refuse e-mails from ${from}, ${soFromCognito}. Look whether the DKIM records are still in the domain's DNS: ${see}`,
    );
  }
  const isKnown = found.some((status) => status !== null);
  const create = cliCommand(aws, `sesv2 create-email-identity --email-identity ${domain}`);
  return stop(
    `SES in ${region} would refuse every e-mail from ${from}: neither ${domain} nor the address itself is verified there. ` +
      `${isKnown ? 'SES knows one of them and waits for its proof' : `Begin with: ${create}`}. Enter the DKIM records into the domain's DNS, and deploy again ` +
      `once VerifiedForSendingStatus is true, or deploy without "mail" until then (docs/deploying.md#e-mails): ${see}`,
  );
}

async function statusOf(aws: Aws, identity: string): Promise<string | null> {
  try {
    const found = await ask(aws, SESv2Client, (client, options) =>
      client.send(new GetEmailIdentityCommand({ EmailIdentity: identity }), options),
    );
    return found.VerifiedForSendingStatus ? 'SUCCESS' : (found.VerificationStatus ?? 'PENDING');
  } catch (error) {
    if (error instanceof NotFoundException) return null;
    throw error;
  }
}

function checkAccount(aws: Aws, { account }: Ses): Finding[] {
  const { region } = aws.settings;
  const suppressed: string[] = account.SuppressionAttributes?.SuppressedReasons ?? [];
  const suppressesAll = ['BOUNCE', 'COMPLAINT'].every((reason) => suppressed.includes(reason));
  const leave = cliCommand(
    aws,
    'sesv2 put-account-details --production-access-enabled --mail-type TRANSACTIONAL --website-url URL --use-case-description "TEXT"',
  );
  const command = 'sesv2 put-account-suppression-attributes --suppressed-reasons BOUNCE COMPLAINT';
  const noteIf = (is: boolean, sentence: string) => (is ? note(sentence) : []);
  return [
    noteIf(
      account.ProductionAccessEnabled === false,
      `SES is in its sandbox in ${region}: it sends only to addresses that you have verified, so customers get no e-mails about credits, and ${ofCognito}. Ask AWS to leave it, which takes a day or so: ${leave}`,
    ),
    noteIf(
      account.SendingEnabled === false,
      `SES has paused sending for the account in ${region}, so no e-mail about credits leaves, and ${ofCognito}. The console of SES says why, under "Reputation metrics".`,
    ),
    noteIf(
      !suppressesAll,
      `SES in ${region} goes on sending to addresses that bounce or complain, which may end in a pause of the whole account. Let it stop: ${cliCommand(aws, command)}`,
    ),
  ].flat();
}

import {
  GetAccountCommand,
  GetEmailIdentityCommand,
  NotFoundException,
  SESv2Client,
} from '@aws-sdk/client-sesv2';
import { mailIdentities } from '../../../lib/configuration.ts';
import { ask, cliCommand, type Aws } from '../aws.ts';
import { note, stop, type Check, type Finding } from './check.ts';

/** Whether SES sends from the configured address, and to everybody. */
export const mail: Check = {
  subject: 'whether SES can send e-mails from the configured address',
  permission: 'ses:GetEmailIdentity and ses:GetAccount',
  async run({ aws, deployment, targets }) {
    const { configuration, stackName } = deployment;
    if (configuration.mail === null || !targets.includes(stackName)) return [];
    const { from } = configuration.mail;
    const [ofIdentity, ofAccount] = await Promise.all([checkIdentity(aws, from), checkAccount(aws)]);
    return [...ofIdentity, ...ofAccount];
  },
};

async function checkIdentity(aws: Aws, from: string): Promise<Finding[]> {
  const identities = mailIdentities(from);
  const [domain] = identities;
  const found = await Promise.all(identities.map((identity) => statusOf(aws, identity)));
  if (found.includes('SUCCESS')) return [];
  const { region } = aws.settings;
  const see = cliCommand(aws, `sesv2 get-email-identity --email-identity ${domain}`);
  // Only an identity that was verified before gets this. A fix of the service must not wait for DNS.
  if (found.includes('TEMPORARY_FAILURE')) {
    return note(
      `SES could not confirm ${domain} again in ${region}, and may refuse e-mails from ${from}. Look whether the DKIM records are still in the domain's DNS: ${see}`,
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

/** @returns SES's VerificationStatus, SUCCESS for what it sends from; null for an identity that it does not know. */
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

async function checkAccount(aws: Aws): Promise<Finding[]> {
  const account = await ask(aws, SESv2Client, (client, options) =>
    client.send(new GetAccountCommand({}), options),
  );
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
      `SES is in its sandbox in ${region}: it sends only to addresses that you have verified, so customers get no e-mails. Ask AWS to leave it, which takes a day or so: ${leave}`,
    ),
    noteIf(
      account.SendingEnabled === false,
      `SES has paused sending for the account in ${region}, so no e-mail leaves. The console of SES says why, under "Reputation metrics".`,
    ),
    noteIf(
      !suppressesAll,
      `SES in ${region} goes on sending to addresses that bounce or complain, which may end in a pause of the whole account. Let it stop: ${cliCommand(aws, command)}`,
    ),
  ].flat();
}

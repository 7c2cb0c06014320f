import { enableCompileCache } from 'node:module';
import { parseArgs } from 'node:util';
import type { LocalService, LocalServiceOptions } from '../local/service.ts';

const usage = `npm start -- [options]

  --port N                  serve on this port of this machine (default 4600, 0 for any free one)
  --data DIR                keep everything in this folder (default .local)
  --fresh                   empty that folder first
  --deadline SECONDS        how long a generation may take, 1 to 450 (default 60)
  --async-deadline SECONDS  the same for requests with "Prefer: respond-async", 1 to 840 (default 600)
  --grace SECONDS           how long what runs may go on when the service is stopped, 0 to 450 (default 10)
  --container URL           generates with this model container in the painter's place, as http://127.0.0.1:8080
  --no-samples              paints no samples of the demo identities
  --sleep SECONDS           lets the model fall asleep when nobody has called it for so long, 1 to 86400
  --wake SECONDS            how long it takes to wake from that, 1 to 3600 (default 20)
  --token-lifetime SECONDS  how long a session's access token lives, 5 to 86400 (default 3600)
  --allow-origin ORIGIN     lets web pages of this origin call the API from a browser, and sign in; may be repeated
  --allow-callback URL      lets programs elsewhere sign in, and out, and come back to exactly this address; may be repeated
  --billing-portal URL      where the dashboard and e-mails send people who want to change their subscription (default: nowhere)
  --support CONTACT         the e-mail address or page that error screens, e-mails and fetched servers are told (default: none)
  --help                    print this`;

// Set before anything else is imported: from the second start on, nothing is compiled twice.
enableCompileCache();
const { StartError } = await import('../local/start-error.ts');
const { callbackWords, contactPattern, isCallback } = await import('../shared/base/config.ts');
const { counted, shutdownSentence } = await import('../local/shutdown.ts');

type Flags = Omit<LocalServiceOptions, 'onRequest' | 'onNotice'>;

function readFlags(args: string[]): Flags | null {
  const options = {
    port: { type: 'string', default: '4600' },
    data: { type: 'string', default: '.local' },
    fresh: { type: 'boolean', default: false },
    deadline: { type: 'string', default: '60' },
    'async-deadline': { type: 'string', default: '600' },
    grace: { type: 'string', default: '10' },
    container: { type: 'string' },
    'no-samples': { type: 'boolean', default: false },
    sleep: { type: 'string' },
    wake: { type: 'string' },
    'token-lifetime': { type: 'string', default: '3600' },
    'allow-origin': { type: 'string', multiple: true },
    'allow-callback': { type: 'string', multiple: true },
    'billing-portal': { type: 'string' },
    support: { type: 'string' },
    help: { type: 'boolean', default: false },
  } as const;
  let values;
  try {
    ({ values } = parseArgs({ args, options, strict: true }));
  } catch (error) {
    throw new StartError(`${(error as Error).message.split(/\.?\n|\. /)[0]}. Try --help.`);
  }
  if (values.help) return null;
  if (values.data === '') throw new StartError('--data needs the name of a folder.');
  return {
    port: wholeNumber('--port', values.port, 0, 65535),
    dataDir: values.data,
    fresh: values.fresh,
    deadlineSeconds: wholeNumber('--deadline', values.deadline, 1, 450),
    asyncDeadlineSeconds: wholeNumber('--async-deadline', values['async-deadline'], 1, 840),
    graceSeconds: wholeNumber('--grace', values.grace, 0, 450),
    containerUrl: addressOrNull('container', values.container),
    samples: !values['no-samples'],
    sleep: sleepOf(values),
    accessTokenSeconds: wholeNumber('--token-lifetime', values['token-lifetime'], 5, 86_400),
    allowedOrigins: (values['allow-origin'] ?? []).map((text) => address('allow-origin', text)),
    allowedCallbacks: (values['allow-callback'] ?? []).map((text) => address('allow-callback', text)),
    billingPortalUrl: addressOrNull('billing-portal', values['billing-portal']),
    supportContact: addressOrNull('support', values.support),
  };
}

function sleepOf({ sleep, wake }: { sleep?: string | undefined; wake?: string | undefined }): Flags['sleep'] {
  if (sleep === undefined) {
    if (wake !== undefined)
      throw new StartError('--wake needs --sleep: a model that never sleeps never wakes.');
    return null;
  }
  return {
    sleepSeconds: wholeNumber('--sleep', sleep, 1, 86_400),
    wakeSeconds: wholeNumber('--wake', wake ?? '20', 1, 3600),
  };
}

const isOrigin = (text: string) => URL.canParse(text) && new URL(text).origin === text;
const isPage = (text: string) => /^https?:\/\//.test(text) && URL.canParse(text);
const isContact = (text: string) => contactPattern.test(text) && (/^[^@]+@[^@]+$/.test(text) || isPage(text));

/** What each flag with an address takes, and in words. */
const addresses = {
  'allow-origin': [isOrigin, 'an origin, as http://localhost:5173'],
  'allow-callback': [isCallback, callbackWords],
  'billing-portal': [isPage, 'a web address, as https://billing.example.com'],
  container: [isPage, 'an address, as http://127.0.0.1:8080'],
  support: [isContact, 'an e-mail address or a web address'],
} satisfies Record<string, [(text: string) => boolean, string]>;

function address(flag: keyof typeof addresses, text: string): string {
  const [isRight, words] = addresses[flag];
  if (isRight(text)) return text;
  throw new StartError(`--${flag} must be ${words}, not "${text}".`);
}

function addressOrNull(flag: keyof typeof addresses, text: string | undefined): string | null {
  return text === undefined ? null : address(flag, text);
}

function wholeNumber(flag: string, text: string, min: number, max: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : -1;
  if (value < min || value > max) {
    throw new StartError(`${flag} must be a whole number from ${min} to ${max}, not "${text}".`);
  }
  return value;
}

function banner({ ready, firstStart }: Pick<LocalService, 'ready' | 'firstStart'>): string {
  const { baseUrl, dashboardUrl, accounts } = ready;
  const key = ready.keys.pro!;
  const identityId = ready.identities.aurora!;
  const [email, account] = Object.entries(accounts)[0]!;
  return `
  Image Generation Service, on this machine${firstStart ? ' (demo data was made)' : ''}

  Dashboard  ${dashboardUrl}
  Sign in    ${email} with the password ${account.password}

  Your first image:

  export IMAGE_BASE_URL=${baseUrl}
  export IMAGE_API_KEY=${key}

  curl -sS "$IMAGE_BASE_URL/generate" \\
    -H "Authorization: Bearer $IMAGE_API_KEY" \\
    -H 'Content-Type: application/json' \\
    -H 'Idempotency-Key: my-first-image' \\
    -d '{"identityId":"${identityId}","prompt":"a calm night over the mountains"}'

  Open a link under "outputs" in a browser. Another Idempotency-Key makes another image.
  The Quickstart in the dashboard has the same in TypeScript and Python. Ctrl-C stops the service.
`;
}

/** What other programs and pages sign in with, where any may. */
async function signInLines(ready: LocalService['ready'], flags: Flags): Promise<string> {
  const { returnAddresses, sessionSettings } = await import('../local/sign-in.ts');
  const { redirectUris, logoutUris } = returnAddresses(flags.allowedOrigins, flags.allowedCallbacks);
  const { issuer, clientId } = sessionSettings(new URL(ready.dashboardUrl).origin);
  const lines = `
  To sign in from elsewhere (docs/local.md):

  Issuer     ${issuer}
  Client id  ${clientId} (public, with PKCE)
  Scopes     openid email profile
  Callback   ${redirectUris.join('\n             ')}
  Sign-out   ${logoutUris.join('\n             ')}
`;
  return redirectUris.length === 0 ? '' : lines;
}

async function main(): Promise<void> {
  const flags = readFlags(process.argv.slice(2));
  if (flags === null) return console.log(usage);
  const { startLocalService } = await import('../local/service.ts');
  const starting = startLocalService({
    ...flags,
    onRequest: ({ method, path, status, durationMs }) =>
      console.log(`  ${status} ${method} ${path} ${durationMs} ms`),
    onNotice: (sentence) => console.log(`  ${sentence}`),
  });
  followNpm(stopOnSignals(starting, flags.graceSeconds));
  const service = await starting;
  console.log(banner(service) + (await signInLines(service.ready, flags)));
}

/** A signal that comes while the service starts stops it as soon as it has started. @returns what a signal does */
function stopOnSignals(starting: Promise<LocalService>, graceSeconds: number): () => void {
  let stoppedMs: number | null = null;
  const stop = () => {
    // npm may pass on a signal that the terminal already sent to all processes: two signals within this time are one Ctrl-C.
    if (stoppedMs !== null && Date.now() - stoppedMs > 500) process.exit(130);
    if (stoppedMs !== null) return;
    stoppedMs = Date.now();
    const grace = counted(graceSeconds, 'second');
    console.log(`\n  Stopping: what runs has ${grace} to finish. Press Ctrl-C again to leave at once.`);
    starting
      .then((service) => service.close())
      .then((counts) => console.log(`  ${shutdownSentence(counts)}`))
      .then(
        () => process.exit(0),
        () => process.exit(1),
      );
  };
  process.on('SIGINT', stop).on('SIGTERM', stop);
  return stop;
}

/**
 * A killed npm does not end its child: without this, the service would keep its port and its data folder. npm starts a shell, in whose
 * place the script's `exec` puts this process, so npm is its parent.
 */
function followNpm(stop: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return;
  const npm = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === npm) return;
    clearInterval(watch);
    stop();
  }, 100).unref();
}

main().catch((error: unknown) => {
  console.error(error instanceof StartError ? error.message : error);
  process.exit(1);
});

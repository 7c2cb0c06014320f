import { enableCompileCache } from 'node:module';
import { parseArgs } from 'node:util';
import type { LocalService, LocalServiceOptions } from '../local/service.ts';

// Set before anything else is imported: from the second start on, nothing is compiled twice.
enableCompileCache();
const { StartError } = await import('../local/start-error.ts');
const { callbackWords, contactPattern, isCallback } = await import('../shared/base/config.ts');
const { counted, shutdownSentence } = await import('../local/shutdown.ts');

type Flags = Omit<LocalServiceOptions, 'onRequest' | 'onNotice'>;

const switches = {
  fresh: 'empty that folder first',
  'allow-unchecked': 'accept prompts that --moderation could not check',
  'no-samples': 'make no samples of the demo identities',
  help: 'print this',
};

/** Flags with a whole number: from, to, and what it is where the flag is not given. */
const numbers = {
  port: [0, 65_535, 4600, 'serve on this port of this machine; 0 is any free one'],
  deadline: [1, 450, 60, 'how long a generation may take'],
  'async-deadline': [1, 840, 600, 'the same for requests with "Prefer: respond-async"'],
  grace: [0, 450, 10, 'how long what runs may go on when the service is stopped'],
  sleep: [1, 86_400, null, 'scale the model to zero when nobody has called it for so long'],
  wake: [1, 3600, 20, 'how long its cold start takes then'],
  'keep-refused-prompts': [1, 30, null, 'keep for so many days what --moderation refuses'],
  'token-lifetime': [5, 86_400, 3600, "how long a session's access token lives"],
} as const;

const units: Record<string, string> = { port: 'N', 'keep-refused-prompts': 'DAYS' };

const isPage = (text: string) => /^https?:\/\//.test(text) && URL.canParse(text);
const isOrigin = (text: string) => URL.parse(text)?.origin === text;
const isContact = (text: string) => contactPattern.test(text) && (/^[^@]+@[^@]+$/.test(text) || isPage(text));

const kinds = {
  DIR: [(text: string) => text !== '', 'the name of a folder'],
  ORIGIN: [isOrigin, 'an origin, as http://localhost:5173'],
  CALLBACK: [isCallback, callbackWords],
  URL: [isPage, 'an address, as https://billing.example.com'],
  CONTACT: [isContact, 'an e-mail address or a web address'],
} satisfies Record<string, [(text: string) => boolean, string]>;

/** Flags with a text of some kind. */
const texts = {
  data: ['DIR', 'keep everything in this folder (default .local)'],
  container: ['URL', "generate with this model container in the painter's place"],
  'allow-origin': ['ORIGIN', 'let web pages of this origin call the API, and sign in; may be repeated'],
  'allow-callback': ['CALLBACK', 'let programs sign in and come back to this address; may be repeated'],
  'billing-portal': ['URL', 'where the dashboard and e-mails send people to change their subscription'],
  moderation: ['URL', 'have this server of yours check prompts (docs/safety.md)'],
  support: ['CONTACT', 'the e-mail address or page that error screens, e-mails and fetched servers show'],
} as const;

function usage(): string {
  const lines = [
    ...Object.entries(numbers).map(([name, [from, to, usual, says]]) => [
      `${name} ${units[name] ?? 'SECONDS'}`,
      `${says}, ${from} to ${to}${usual === null ? '' : ` (default ${usual})`}`,
    ]),
    ...Object.entries(texts).map(([name, [kind, says]]) => [`${name} ${kind}`, says]),
    ...Object.entries(switches),
  ];
  const list = lines.map(([flag, says]) => `  --${flag!.padEnd(26)}${says}\n`);
  return `npm start -- [options]\n\n${list.join('')}`;
}

function readFlags(args: string[]): Flags | null {
  const values = parse(args);
  if (values.help) return null;
  const number = (name: keyof typeof numbers): number => {
    const [from, to, usual] = numbers[name];
    const text = String(values[name] ?? usual);
    const value = /^\d{1,9}$/.test(text) ? Number(text) : -1;
    if (value >= from && value <= to) return value;
    throw new StartError(`--${name} must be a whole number from ${from} to ${to}, not "${text}".`);
  };
  const all = (name: keyof typeof texts): string[] => {
    const given = (values[name] ?? []) as string[];
    const [isRight, words] = kinds[texts[name][0]];
    const wrong = given.find((text) => !isRight(text));
    if (wrong === undefined) return given;
    throw new StartError(`--${name} must be ${words}, not "${wrong}".`);
  };
  const last = (name: keyof typeof texts): string | null => all(name).at(-1) ?? null;
  if (values.wake !== undefined && values.sleep === undefined) {
    throw new StartError('--wake needs --sleep: without it, the model has no cold start.');
  }
  const ofModeration = ['keep-refused-prompts', 'allow-unchecked'].find((name) => values[name] !== undefined);
  if (ofModeration !== undefined && values.moderation === undefined) {
    throw new StartError(`--${ofModeration} needs --moderation: without it, no prompt is checked.`);
  }
  return {
    port: number('port'),
    dataDir: last('data') ?? '.local',
    fresh: values.fresh === true,
    deadlineSeconds: number('deadline'),
    asyncDeadlineSeconds: number('async-deadline'),
    graceSeconds: number('grace'),
    containerUrl: last('container'),
    samples: values['no-samples'] !== true,
    coldStarts:
      values.sleep === undefined ? null : { idleSeconds: number('sleep'), coldStartSeconds: number('wake') },
    accessTokenSeconds: number('token-lifetime'),
    allowedOrigins: all('allow-origin'),
    allowedCallbacks: all('allow-callback'),
    billingPortalUrl: last('billing-portal'),
    supportContact: last('support'),
    moderationUrl: last('moderation'),
    allowUnchecked: values['allow-unchecked'] === true,
    keepRefusedDays: values['keep-refused-prompts'] === undefined ? null : number('keep-refused-prompts'),
  };
}

/** @returns what was given: true for a switch, every value of a text. */
function parse(args: string[]): Record<string, unknown> {
  const options = Object.fromEntries([
    ...Object.keys(switches).map((name) => [name, { type: 'boolean' as const }]),
    ...Object.keys(numbers).map((name) => [name, { type: 'string' as const }]),
    ...Object.keys(texts).map((name) => [name, { type: 'string' as const, multiple: true }]),
  ]);
  try {
    return parseArgs({ args, options, strict: true }).values;
  } catch (error) {
    throw new StartError(`${(error as Error).message.split(/\.?\n|\. /)[0]}. Try --help.`);
  }
}

function banner({ ready, firstStart }: Pick<LocalService, 'ready' | 'firstStart'>): string {
  const { baseUrl, dashboardUrl, accounts } = ready;
  const key = ready.keys.pro!;
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
    -d '{"identityId":"aurora","prompt":"a calm night over the mountains"}'

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
  if (flags === null) return console.log(usage());
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

import { useQuery } from '@tanstack/react-query';
import { ShieldCheck } from 'lucide-react';
import { useState, type SubmitEvent } from 'react';
import { toast } from 'sonner';
import { accountScope, minPasswordCharacters } from '../../../../shared/accounts/password.ts';
import { useApi } from '@/api/client.ts';
import { useAccount, useSession } from '@/auth/session.ts';
import { CopyButton } from '@/components/copy-button.tsx';
import { Field } from '@/components/field.tsx';
import { productName } from '@/components/product.tsx';
import { ErrorState, QueryError } from '@/components/states.tsx';
import { useAttempt } from '@/components/use-attempt.ts';
import { Button } from '@/components/ui/button.tsx';
import { Card } from '@/components/ui/card.tsx';
import { Input } from '@/components/ui/input.tsx';
import { useConfig } from '@/lib/config.ts';
import { DeleteAccountCard } from './delete-account.tsx';
import { useUserPool } from './use-user-pool.ts';

/** Changes of the account itself. Each visit of the screen asks for the password first, so that no page that is left open gives the account away. */
export function Security() {
  const session = useSession();
  const { mfa } = useConfig();
  const { pending, error, attempt } = useAttempt();
  if (!session.hasScope(accountScope)) {
    return (
      <Card title="Sign-in and security">
        <p className="mb-4 text-pretty text-muted-foreground">
          Change your password, {mfa !== 'off' && 'add an authenticator app, '}sign out everywhere, or delete
          your account. You sign in once more first.
        </p>
        <Button
          variant="outline"
          icon={ShieldCheck}
          pending={pending}
          onClick={() => attempt(() => session.signIn('/account', accountScope))}
        >
          Confirm that it’s you
        </Button>
        {error !== null && <ErrorState error={error} className="mt-4" />}
      </Card>
    );
  }
  return (
    <>
      <PasswordCard />
      {mfa !== 'off' && <AuthenticatorCard mayTurnOff={mfa === 'optional'} />}
      <SignOutCard />
      <DeleteAccountCard />
    </>
  );
}

function PasswordCard() {
  const ask = useUserPool();
  const { pending, error, attempt } = useAttempt();
  const [present, setPresent] = useState('');
  const [next, setNext] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const isLong = [...next].length >= minPasswordCharacters;
    setProblem(isLong ? null : `Use at least ${minPasswordCharacters} characters.`);
    if (!isLong || pending) return;
    attempt(async () => {
      await ask('ChangePassword', { PreviousPassword: present, ProposedPassword: next });
      setPresent('');
      setNext('');
      toast.success('The password was changed. Sessions elsewhere go on until you sign out everywhere.');
    });
  };
  return (
    <Card title="Password">
      <form noValidate onSubmit={submit} className="grid grid-cols-1 gap-4">
        <Field label="Current password">
          <Input
            type="password"
            autoComplete="current-password"
            value={present}
            onChange={({ target }) => setPresent(target.value)}
          />
        </Field>
        <Field
          label="New password"
          hint={`At least ${minPasswordCharacters} characters, of any kind. Several words are easy to remember and hard to guess.`}
          error={problem}
        >
          <Input
            type="password"
            autoComplete="new-password"
            maxLength={256}
            value={next}
            onChange={({ target }) => setNext(target.value)}
          />
        </Field>
        {error !== null && <ErrorState error={error} advise={() => null} />}
        <Button type="submit" variant="outline" className="w-fit" pending={pending}>
          Change password
        </Button>
      </form>
    </Card>
  );
}

function AuthenticatorCard({ mayTurnOff }: { mayTurnOff: boolean }) {
  const ask = useUserPool();
  const { pending, error, attempt } = useAttempt();
  const [secret, setSecret] = useState<string | null>(null);
  const user = useQuery({ queryKey: ['user'], queryFn: () => ask('GetUser'), gcTime: 0 });
  if (user.isError) return <QueryError query={user} />;
  const isOn = user.data?.UserMFASettingList?.includes('SOFTWARE_TOKEN_MFA') ?? false;
  const turn = async (on: boolean): Promise<void> => {
    await ask('SetUserMFAPreference', { SoftwareTokenMfaSettings: { Enabled: on, PreferredMfa: on } });
    setSecret(null);
    await user.refetch();
  };
  const begin = (): void =>
    attempt(async () => setSecret((await ask('AssociateSoftwareToken')).SecretCode ?? null));
  const verify = (code: string): void =>
    attempt(async () => {
      await ask('VerifySoftwareToken', { UserCode: code });
      await turn(true);
      toast.success('From now on each sign-in asks for a code of the app.');
    });
  return (
    <Card title="Authenticator app">
      <p role="status" className="mb-4 text-pretty text-muted-foreground">
        {isOn
          ? 'Each sign-in asks for a code of your app.'
          : 'With an app, a sign-in asks for a code of six digits beside the password: who learns the password has no access yet.'}
      </p>
      {secret === null ? (
        <div className="flex flex-wrap gap-2">
          <Button variant="outline" pending={pending || user.isPending} onClick={begin}>
            {isOn ? 'Move to another app' : 'Add an app'}
          </Button>
          {isOn && mayTurnOff && (
            <Button variant="outline" disabled={pending} onClick={() => attempt(() => turn(false))}>
              Turn off
            </Button>
          )}
        </div>
      ) : (
        <Enrolment secret={secret} pending={pending} onCode={verify} onCancel={() => setSecret(null)} />
      )}
      {error !== null && <ErrorState error={error} advise={() => null} className="mt-4" />}
    </Card>
  );
}

interface EnrolmentProps {
  secret: string;
  pending: boolean;
  onCode: (code: string) => void;
  onCancel: () => void;
}

function Enrolment({ secret, pending, onCode, onCancel }: EnrolmentProps) {
  const [code, setCode] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  // The form that apps register for (Key Uri Format of Google Authenticator).
  const issuer = encodeURIComponent(productName);
  const account = encodeURIComponent(useAccount()?.email ?? '');
  const address = `otpauth://totp/${issuer}:${account}?secret=${secret}&issuer=${issuer}`;
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    const digits = code.replace(/\s/g, '');
    const isCode = /^\d{6}$/.test(digits);
    setProblem(isCode ? null : 'A code has six digits.');
    if (isCode && !pending) onCode(digits);
  };
  return (
    <form noValidate onSubmit={submit} className="grid grid-cols-1 gap-4">
      <div className="grid gap-2">
        <p className="text-pretty">
          Choose “enter a setup key” in the app and type this one, or{' '}
          <a href={address} className="underline underline-offset-4 hover:decoration-2">
            open the app on this device
          </a>
          . Keep the key where you keep your passwords: it makes the codes.
        </p>
        <div className="flex items-center gap-2">
          <code className="text-sm wrap-anywhere">{secret.match(/.{1,4}/g)!.join(' ')}</code>
          <CopyButton text={secret} label="Copy the key" iconOnly />
        </div>
      </div>
      <Field label="Code that the app shows" error={problem}>
        <Input
          inputMode="numeric"
          autoComplete="one-time-code"
          className="max-w-40"
          value={code}
          onChange={({ target }) => setCode(target.value)}
        />
      </Field>
      <div className="flex gap-2">
        <Button type="submit" variant="outline" pending={pending}>
          Turn on
        </Button>
        <Button variant="ghost" disabled={pending} onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  );
}

function SignOutCard() {
  const api = useApi();
  const ask = useUserPool();
  const session = useSession();
  const { pending, error, attempt } = useAttempt();
  const signOut = (): void =>
    attempt(async () => {
      // Cognito first: a session that is renewed after the API has refused it would be a new one.
      await ask('GlobalSignOut');
      await api.request('PATCH /account', { body: { endSessions: true } });
      await session.signOut();
    });
  return (
    <Card title="Sign out everywhere">
      <p className="mb-4 text-pretty text-muted-foreground">
        Ends all sessions at once, this one too. API keys keep working: revoke those under Keys. If somebody
        knows your password, change it first.
      </p>
      <Button variant="outline" pending={pending} onClick={signOut}>
        Sign out everywhere
      </Button>
      {error !== null && <ErrorState error={error} className="mt-4" />}
    </Card>
  );
}

import { LoaderCircle } from 'lucide-react';

/** Between pages: mostly gone before it could be read, so it waits before it shows. */
export function SigningIn() {
  return (
    <main className="flex min-h-dvh items-center justify-center">
      <h1 className="flex animate-in items-center gap-2 text-sm font-normal text-muted-foreground delay-300 duration-300 fill-mode-both fade-in-0">
        <LoaderCircle aria-hidden className="size-4 animate-spin" />
        Signing in
      </h1>
    </main>
  );
}

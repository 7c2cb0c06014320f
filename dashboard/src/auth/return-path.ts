const key = 'return-path';

/** Remembers where a sign-in comes back to, so that the screen there is loaded while the sign-in is completed. */
export function rememberReturnPath(pathname: string): void {
  try {
    sessionStorage.setItem(key, pathname);
  } catch {
    // It is loaded a little later.
  }
}

/** Where the sign-in that is being completed comes back to. Null on every other page. */
export function recallReturnPath(): string | null {
  return window.location.pathname === '/callback' ? sessionStorage.getItem(key) : null;
}

/**
 * Whether the service answers. A page that is left while it does not becomes the browser's own error page. The login domain
 * is not asked: its headers may keep a page from hearing an answer that is there.
 */
export async function isReachable(): Promise<boolean> {
  const signal = AbortSignal.timeout(10_000);
  const answer = fetch('/', { method: 'HEAD', cache: 'no-store', signal });
  return answer.then(
    () => true,
    () => false,
  );
}

/** Loads the page again, if it can be had. @returns false where it can't */
export async function reload(): Promise<boolean> {
  if (!(await isReachable())) return false;
  window.location.reload();
  return true;
}

/** How a download went: saved, or opened in a tab of its own because the browser may not read the image. */
export type DownloadOutcome = 'saved' | 'opened';

interface DownloadOrder {
  url: string;
  fileName: string;
  /** A new link for the same image, null when there is none: links are good for an hour. */
  renew: () => Promise<string | null>;
}

/**
 * Saves an image under a name of its own. A link to another origin can't be given a name, so the bytes are fetched;
 * where that is refused the link is opened, and the browser's own menu saves it.
 */
export async function downloadImage({ url, fileName, renew }: DownloadOrder): Promise<DownloadOutcome> {
  let link = url;
  let response = await read(link);
  if (response !== null && !response.ok) {
    link = (await renew().catch(() => null)) ?? url;
    response = await read(link);
  }
  const blob = response?.ok ? await response.blob().catch(() => null) : null;
  if (blob === null) {
    follow(link, { target: '_blank' });
    return 'opened';
  }
  const objectUrl = URL.createObjectURL(blob);
  follow(objectUrl, { download: fileName });
  // The browser may begin to read only after this task.
  setTimeout(() => URL.revokeObjectURL(objectUrl), 60_000);
  return 'saved';
}

async function read(url: string): Promise<Response | null> {
  try {
    // Not from the cache: what an <img> has put there lacks the headers that let a script read it.
    return await fetch(url, { cache: 'no-store', credentials: 'omit', referrerPolicy: 'no-referrer' });
  } catch {
    return null;
  }
}

function follow(href: string, how: { target?: string; download?: string }): void {
  const anchor = Object.assign(document.createElement('a'), { href, rel: 'noopener noreferrer', ...how });
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
}

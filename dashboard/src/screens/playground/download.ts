/**
 * Saves an image under a name of one's own, which a link to another origin can't do by itself.
 * @param renew signs a new link where the first has expired.
 * @throws where the image can't be fetched.
 */
export async function downloadImage(
  link: string | undefined,
  name: string,
  renew: () => Promise<string | undefined>,
): Promise<void> {
  const image = (await fetchImage(link)) ?? (await fetchImage(await renew()));
  if (image === null) throw new Error('The image could not be fetched.');
  const url = URL.createObjectURL(image);
  const anchor = document.createElement('a');
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  // The browser has taken the data by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

async function fetchImage(link: string | undefined): Promise<Blob | null> {
  if (link === undefined) return null;
  // What an <img> has cached came without CORS headers and could not be read here.
  const init = { cache: 'no-store', credentials: 'omit', referrerPolicy: 'no-referrer' } as const;
  const response = await fetch(link, init).catch(() => null);
  return response?.ok ? response.blob() : null;
}

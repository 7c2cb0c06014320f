import sharp from 'sharp';
import type { UploadAnswer } from '../../shared/images/answer-contract.ts';

/** A picture that no other is taken for: one color, with a lighter square in its middle. */
export async function samplePhoto({
  color = '#c03020',
  format = 'png' as 'png' | 'jpeg' | 'webp',
} = {}): Promise<Buffer> {
  const square = { width: 64, height: 64, channels: 3, background: '#f0e0d0' } as const;
  const picture = sharp({ create: { width: 320, height: 240, channels: 3, background: color } });
  const input = await sharp({ create: square }).png().toBuffer();
  return picture.composite([{ input }]).toFormat(format).toBuffer();
}

/** A file as its own address. */
export const dataUri = (file: Buffer) => `data:image/png;base64,${file.toString('base64')}`;

/** Sends a file by the form that POST /uploads answered, as a browser would. */
export async function postFile(
  { url, fields }: UploadAnswer,
  file: Uint8Array,
  changed: Record<string, string> = {},
): Promise<Response> {
  const form = new FormData();
  for (const [name, value] of Object.entries({ ...fields, ...changed })) form.set(name, value);
  form.set('file', new Blob([file as Uint8Array<ArrayBuffer>]), 'photo');
  return fetch(url, { method: 'POST', body: form });
}

/** The same, and it has to be taken. */
export async function sendFile(upload: UploadAnswer, file: Uint8Array): Promise<void> {
  const { status } = await postFile(upload, file);
  if (status !== 204) throw new Error(`the file was answered with status ${status}`);
}

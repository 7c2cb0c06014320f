const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** The beginning of a PNG: as much as says its dimensions. */
export function pngHeader(widthPx: number, heightPx: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(33);
  bytes.set([...signature, 0, 0, 0, 13, ...Buffer.from('IHDR')]);
  const view = new DataView(bytes.buffer);
  view.setUint32(16, widthPx);
  view.setUint32(20, heightPx);
  return bytes;
}

/** Width and height of a PNG, as its header says them. @throws when the bytes are no PNG that ends as one. */
export function pngSize(bytes: Buffer): { width: number; height: number } {
  const [header] = chunks(bytes);
  return { width: header!.data.readUInt32BE(0), height: header!.data.readUInt32BE(4) };
}

function chunks(bytes: Buffer): { type: string; data: Buffer }[] {
  if (!bytes.subarray(0, 8).equals(signature)) throw new Error('these bytes are no PNG');
  const found: { type: string; data: Buffer }[] = [];
  for (let at = 8; at < bytes.length;) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    found.push({ type, data: bytes.subarray(at + 8, at + 8 + length) });
    at += 12 + length;
  }
  if (found[0]?.type !== 'IHDR' || found.at(-1)?.type !== 'IEND') throw new Error('the PNG is not whole');
  return found;
}

/** Opens a link as a browser does: no key, nothing but the link. */
export async function openImage(link: string): Promise<Buffer> {
  const response = await fetch(link);
  const bytes = Buffer.from(await response.arrayBuffer());
  const type = response.headers.get('content-type');
  if (response.status !== 200 || type !== 'image/png') {
    throw new Error(`the link answers ${response.status} ${type}: ${bytes.toString('utf8').slice(0, 500)}`);
  }
  return bytes;
}

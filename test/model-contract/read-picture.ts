import sharp from 'sharp';

/** What an XMP packet of ours says. */
export interface Xmp {
  digitalSourceType: string;
  software: string;
  /** The JSON of `UserComment`. */
  facts: Record<string, unknown>;
}

/** What a file shows and says. */
export interface ReadPicture {
  /** What the file is, judged by its bytes. */
  format: string | undefined;
  width: number;
  height: number;
  /** 8-bit RGB, row by row. */
  pixels: Buffer;
  /** All the metadata that there is. */
  xmp: Xmp;
  file: Buffer;
}

/** Decodes an image; anything that a decoder warns of, and metadata beside XMP, throws. */
export async function readPicture(file: Buffer): Promise<ReadPicture> {
  const image = sharp(file, { failOn: 'warning' });
  const { format, width, height, channels, hasAlpha, xmp, ...others } = await image.metadata();
  if (hasAlpha || channels !== 3) throw new Error('it is not RGB');
  const { exif, icc, iptc, comments = [] } = others;
  if (exif || icc || iptc || comments.length > 0) throw new Error('it has more metadata than XMP');
  return { format, width, height, pixels: await image.raw().toBuffer(), xmp: readXmp(xmp), file };
}

const entities: Record<string, string> = { '&lt;': '<', '&gt;': '>', '&amp;': '&' };
/** What may not stand in an XML 1.0 text. */
const notForXml = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

/** Reads a packet of the form that both model servers write, and throws on any other. */
function readXmp(packet: Buffer | undefined): Xmp {
  const xml = new TextDecoder('utf-8', { fatal: true }).decode(packet);
  if (notForXml.test(xml)) throw new Error('a character that XML does not allow');
  const text = (name: string): string => {
    const [, inside, ...more] = xml.split(new RegExp(`</?${name}>`));
    if (inside === undefined || more.length !== 1) throw new Error(`not one ${name}`);
    return inside.replace(/<\/?rdf:[^>]*>/g, '').replace(/&\w+;/g, (entity) => entities[entity]!);
  };
  return {
    digitalSourceType: text('Iptc4xmpExt:DigitalSourceType'),
    software: text('xmp:CreatorTool'),
    facts: JSON.parse(text('exif:UserComment')) as Record<string, unknown>,
  };
}

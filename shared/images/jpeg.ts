import { orientationOnly, readOrientation } from './exif-orientation.ts';
import { FrameReader, startsOfFrame, type Scan } from './jpeg-frame.ts';
import {
  checkSize,
  damaged,
  followed,
  ImageProblem,
  isColorProfile,
  maxParts,
  notWhole,
  type Picture,
} from './picture.ts';
import { Reader } from './reader.ts';
import { samsungTrailerStart } from './samsung-trailer.ts';

const marker = {
  dht: 0xc4,
  eoi: 0xd9,
  sos: 0xda,
  dqt: 0xdb,
  dri: 0xdd,
  app0: 0xe0,
  app1: 0xe1,
  app2: 0xe2,
  app14: 0xee,
  com: 0xfe,
};

/** The application segments that change how the picture looks. */
interface Settings {
  jfif: Uint8Array | undefined;
  adobe: Uint8Array | undefined;
  orientation: number | undefined;
  profileParts: Uint8Array[];
}

/** Walks a JPEG (ITU-T T.81) and what phones append to it. @throws ImageProblem */
export function cleanJpeg(bytes: Uint8Array): Picture {
  const reader = new Reader(bytes);
  const picture = walk(reader, checkSize);
  const end = reader.at;
  if (!isAppendix(bytes.subarray(end))) throw followed(bytes.length - end);
  return picture;
}

/**
 * Whether these bytes are what phones put after a JPEG: further whole JPEGs (CIPA DC-007, "MPF", and gain maps), Samsung's
 * trailer, and zeros between and after them. None of it is copied.
 */
function isAppendix(bytes: Uint8Array): boolean {
  const end = samsungTrailerStart(bytes) ?? bytes.length;
  let at = 0;
  for (;;) {
    while (at < end && bytes[at] === 0) at += 1;
    if (at === end) return true;
    const reader = new Reader(bytes.subarray(at, end));
    try {
      walk(reader, () => {});
    } catch (error) {
      if (error instanceof ImageProblem) return false;
      throw error;
    }
    at += reader.at;
  }
}

/** From SOI to EOI; the reader then stands behind it. */
function walk(reader: Reader, judgeSize: (widthPx: number, heightPx: number) => void): Picture {
  if (reader.u16() !== 0xffd8) throw damaged('it does not start as a JPEG');
  const frames = new FrameReader();
  const settings: Settings = { jfif: undefined, adobe: undefined, orientation: undefined, profileParts: [] };
  const parts: Uint8Array[] = [];
  let size = { widthPx: 0, heightPx: 0 };
  for (let count = 0; ; count++) {
    if (count > maxParts) throw damaged('it has too many segments');
    const code = nextMarker(reader);
    if (code === marker.eoi) break;
    const start = reader.at - 2;
    const length = reader.u16();
    if (length < 2) throw damaged('one of its segments has no length');
    const body = reader.take(length - 2);
    if (isApplication(code)) {
      // A setting counts before the first scan only.
      if (frames.scanCount === 0) readSetting(code, body, settings);
      continue;
    }
    if (startsOfFrame.has(code)) {
      size = frames.startFrame(code, body);
      judgeSize(size.widthPx, size.heightPx);
    } else if (code === marker.sos) passImageData(reader, frames.startScan(body));
    else readTables(code, body, frames);
    parts.push(reader.bytes.subarray(start, reader.at));
  }
  frames.finish();
  return { ...size, parts: [soi, ...writtenSettings(settings), ...parts, eoi] };
}

/** Passes any fill bytes, and the two of the marker. */
function nextMarker(reader: Reader): number {
  if (reader.u8() !== 0xff) throw damaged('something stands between its segments');
  let code = reader.u8();
  while (code === 0xff) code = reader.u8();
  return code;
}

function isApplication(code: number): boolean {
  return (code >= marker.app0 && code <= marker.app0 + 15) || code === marker.com;
}

function readTables(code: number, body: Uint8Array, frames: FrameReader): void {
  if (code === marker.dqt) return frames.quantTables(body);
  if (code === marker.dht) return frames.huffmanTables(body);
  if (code === marker.dri) return frames.restartInterval(body);
  // Frames and conditioning of the lossless, hierarchical and arithmetic processes, which few decoders know.
  if (code >= 0xc3 && code <= 0xcf) throw new ImageProblem('must be a baseline or progressive JPEG');
  throw damaged('it has a segment that does not belong there');
}

/** Passes the compressed data up to the next marker that ends it. @throws ImageProblem when it is too short for the scan */
function passImageData(reader: Reader, scan: Scan): void {
  const { bytes } = reader;
  let at = reader.at;
  let dataBytes = 0;
  let restarts = 0;
  for (;;) {
    if (at >= bytes.length) throw notWhole();
    if (bytes[at] !== 0xff) {
      at += 1;
      dataBytes += 1;
      continue;
    }
    let codeAt = at + 1;
    while (bytes[codeAt] === 0xff) codeAt += 1;
    const code = bytes[codeAt];
    if (code === undefined) throw notWhole();
    if (code === 0 && codeAt === at + 1) {
      dataBytes += 1;
    } else if (code === 0xd0 + (restarts % 8)) {
      restarts += 1;
    } else break;
    at = codeAt + 1;
  }
  reader.at = at;
  if (dataBytes * 8 < scan.minBits || restarts < scan.restarts) throw notWhole();
  if (restarts > scan.restarts) throw damaged('it has more restart markers than its size says');
}

function readSetting(code: number, body: Uint8Array, settings: Settings): void {
  const starts = (text: string) => Buffer.from(body.subarray(0, text.length)).toString('latin1') === text;
  if (code === marker.app0 && starts('JFIF\0') && body.length >= 14) {
    settings.jfif ??= body;
  } else if (code === marker.app1 && starts('Exif\0\0')) {
    settings.orientation ??= readOrientation(body.subarray(6));
  } else if (code === marker.app2 && starts(profileName) && body.length > 14) {
    settings.profileParts.push(body);
  } else if (code === marker.app14 && starts('Adobe') && body.length >= 12) {
    // Decoders use the last one.
    settings.adobe = body;
  }
}

const soi = Buffer.from([0xff, 0xd8]);
const eoi = Buffer.from([0xff, marker.eoi]);

function writtenSettings({ jfif, adobe, orientation, profileParts }: Settings): Uint8Array[] {
  const written: Uint8Array[] = [];
  // Its last two bytes say that there is no thumbnail.
  if (jfif) written.push(segment(marker.app0, [jfif.subarray(0, 12), Buffer.alloc(2)]));
  if (orientation !== undefined && orientation !== 1) {
    written.push(segment(marker.app1, [orientationOnly(orientation)]));
  }
  if (adobe) written.push(segment(marker.app14, [adobe.subarray(0, 12)]));
  return [...written, ...writtenProfile(profileParts)];
}

const profileName = 'ICC_PROFILE\0';
const maxProfilePart = 65_519;

/** The profile (ICC.1:2022, B.4) in as few segments as can be, or none where the parts don't make one. */
function writtenProfile(found: Uint8Array[]): Uint8Array[] {
  const count = found[0]?.[13];
  const inOrder = found.toSorted((a, b) => a[12]! - b[12]!);
  if (!inOrder.every((part, i) => part[12] === i + 1 && part[13] === count) || found.length !== count)
    return [];
  const profile = Buffer.concat(inOrder.map((part) => part.subarray(14)));
  if (!isColorProfile(profile)) return [];
  const total = Math.ceil(profile.length / maxProfilePart);
  return Array.from({ length: total }, (_, i) => {
    const part = profile.subarray(i * maxProfilePart, (i + 1) * maxProfilePart);
    return segment(marker.app2, [Buffer.from(profileName), Buffer.from([i + 1, total]), part]);
  });
}

function segment(code: number, body: Uint8Array[]): Uint8Array {
  const bytes = Buffer.concat([Buffer.from([0xff, code, 0, 0]), ...body]);
  bytes.writeUInt16BE(bytes.length - 2, 2);
  return bytes;
}

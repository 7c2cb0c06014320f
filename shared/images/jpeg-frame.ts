import { damaged, ImageProblem } from './picture.ts';
import { Reader } from './reader.ts';

interface Component {
  id: number;
  /** Samples per unit of the image, across and down. */
  h: number;
  v: number;
  quantTable: number;
  /** Whether a scan brought its DC coefficients, without which there is nothing to see. */
  scanned: boolean;
}

interface Frame {
  widthPx: number;
  heightPx: number;
  progressive: boolean;
  components: Component[];
  maxH: number;
  maxV: number;
}

interface ScanComponent {
  component: Component;
  dcTable: number;
  acTable: number;
}

/** What the data of a scan must hold, by the file's own tables and size. */
export interface Scan {
  /** The fewest bytes that data for so many blocks can have. */
  minBits: number;
  restarts: number;
}

/** Baseline, extended sequential and progressive, all with Huffman codes. */
export const startsOfFrame = new Set([0xc0, 0xc1, 0xc2]);

/** A progressive image is decoded once for each scan: a small file with many would keep a decoder busy for minutes. */
const maxScans = 100;

/** The tables and headers of a JPEG as far as it was read (ITU-T T.81, annexes B and G), checked as decoders check them. */
export class FrameReader {
  #frame: Frame | undefined;
  readonly #quantTables = new Set<number>();
  /** By table: the bits of its shortest code. */
  readonly #dcTables = new Map<number, number>();
  readonly #acTables = new Map<number, number>();
  #restartInterval = 0;
  #scanCount = 0;

  get scanCount(): number {
    return this.#scanCount;
  }

  quantTables(body: Uint8Array): void {
    const reader = new Reader(body);
    while (reader.left > 0) {
      const head = reader.u8();
      if (head >> 4 > 1 || (head & 15) > 3) throw damaged('one of its tables is wrong');
      reader.take(head >> 4 === 1 ? 128 : 64);
      this.#quantTables.add(head & 15);
    }
  }

  huffmanTables(body: Uint8Array): void {
    const reader = new Reader(body);
    while (reader.left > 0) {
      const head = reader.u8();
      if (head >> 4 > 1 || (head & 15) > 3) throw damaged('one of its tables is wrong');
      const isDc = head >> 4 === 0;
      const lengths = reader.take(16);
      const symbols = reader.take(lengths.reduce((sum, count) => sum + count, 0));
      if (!isPrefixCode(lengths) || symbols.length > 256) throw damaged('one of its tables is wrong');
      if (isDc && symbols.some((symbol) => symbol > 15)) throw damaged('one of its tables is wrong');
      (isDc ? this.#dcTables : this.#acTables).set(head & 15, lengths.findIndex((count) => count > 0) + 1);
    }
  }

  restartInterval(body: Uint8Array): void {
    if (body.length !== 2) throw damaged('its restart interval is wrong');
    this.#restartInterval = new Reader(body).u16();
  }

  startFrame(marker: number, body: Uint8Array): Frame {
    if (this.#frame) throw damaged('it has two frames');
    const reader = new Reader(body);
    const precision = reader.u8();
    const heightPx = reader.u16();
    const widthPx = reader.u16();
    const count = reader.u8();
    if (precision !== 8) throw new ImageProblem('must be a JPEG of 8 bits per component');
    if (![1, 3, 4].includes(count) || reader.left !== count * 3) throw damaged('its components are wrong');
    const components = Array.from({ length: count }, () => readComponent(reader));
    const maxH = Math.max(...components.map(({ h }) => h));
    const maxV = Math.max(...components.map(({ v }) => v));
    if (
      new Set(components.map(({ id }) => id)).size < count ||
      components.some(({ h, v }) => h < 1 || v < 1 || h > 4 || v > 4 || maxH % h > 0 || maxV % v > 0)
    ) {
      throw damaged('its components are wrong');
    }
    this.#frame = { widthPx, heightPx, progressive: marker === 0xc2, components, maxH, maxV };
    return this.#frame;
  }

  startScan(body: Uint8Array): Scan {
    const frame = this.#frame;
    if (!frame) throw damaged('it has image data before its size');
    this.#scanCount += 1;
    if (this.#scanCount > maxScans) throw new ImageProblem(`must be a JPEG of at most ${maxScans} scans`);
    const reader = new Reader(body);
    const count = reader.u8();
    if (count < 1 || count > 4 || reader.left !== count * 2 + 3) throw damaged('one of its scans is wrong');
    const chosen = Array.from({ length: count }, () => readScanComponent(reader, frame));
    const [from, to, shifts] = [reader.u8(), reader.u8(), reader.u8()];
    const distinct = new Set(chosen.map(({ component }) => component)).size === count;
    const blocks = chosen.reduce((sum, { component }) => sum + component.h * component.v, 0);
    // T.81, B.2.3: an interleaved unit holds at most ten blocks.
    if (!distinct || (count > 1 && blocks > 10)) throw damaged('one of its scans is wrong');
    if (!chosen.every(({ component }) => this.#quantTables.has(component.quantTable))) {
      throw damaged('one of its tables is missing');
    }
    const bitsPerBlock = frame.progressive
      ? this.#progressiveBits(chosen, { from, to, high: shifts >> 4, low: shifts & 15 })
      : this.#sequentialBits(chosen, from, to, shifts);
    return this.#judge(frame, chosen, bitsPerBlock);
  }

  /** @throws ImageProblem unless every component has been seen */
  finish(): void {
    if (!this.#frame?.components.every(({ scanned }) => scanned))
      throw damaged('it ends before its image data');
  }

  /** @returns the fewest bits a block of each component takes */
  #sequentialBits(chosen: ScanComponent[], from: number, to: number, shifts: number): number[] {
    // Some encoders leave these bytes zero; decoders ignore them here.
    if (from !== 0 || (to !== 63 && to !== 0) || shifts !== 0) throw damaged('one of its scans is wrong');
    return chosen.map(({ component, dcTable, acTable }) => {
      if (component.scanned) throw damaged('one of its components comes twice');
      component.scanned = true;
      return shortest(this.#dcTables, dcTable) + shortest(this.#acTables, acTable);
    });
  }

  /** T.81, G.1.1.1: a scan brings DC or AC coefficients, first their high bits, then one bit more each time. */
  #progressiveBits(
    chosen: ScanComponent[],
    { from, to, high, low }: { from: number; to: number; high: number; low: number },
  ): number[] {
    const isDc = from === 0;
    const rangeIsRight = isDc ? to === 0 : to >= from && to <= 63 && chosen.length === 1;
    if (!rangeIsRight || low > 13 || (high !== 0 && low !== high - 1))
      throw damaged('one of its scans is wrong');
    return chosen.map(({ component, dcTable, acTable }) => {
      const isFirst = isDc && high === 0;
      if (component.scanned === isFirst) throw damaged('its scans are in the wrong order');
      component.scanned = true;
      if (isFirst) return shortest(this.#dcTables, dcTable);
      if (isDc) return 1;
      shortest(this.#acTables, acTable);
      // Runs of empty blocks take almost no data.
      return 0;
    });
  }

  #judge(frame: Frame, chosen: ScanComponent[], bitsPerBlock: number[]): Scan {
    const { widthPx, heightPx, maxH, maxV } = frame;
    const only = chosen.length === 1 ? chosen[0]!.component : undefined;
    // A component alone has units of one block, counted in its own samples; together they share units of the image.
    const [across, down] = only
      ? [Math.ceil((widthPx * only.h) / maxH), Math.ceil((heightPx * only.v) / maxV)]
      : [Math.ceil(widthPx / maxH), Math.ceil(heightPx / maxV)];
    const units = Math.ceil(across / 8) * Math.ceil(down / 8);
    const bitsPerUnit = only
      ? bitsPerBlock[0]!
      : chosen.reduce((sum, { component }, i) => sum + component.h * component.v * bitsPerBlock[i]!, 0);
    const restarts = this.#restartInterval ? Math.max(0, Math.ceil(units / this.#restartInterval) - 1) : 0;
    return { minBits: units * bitsPerUnit, restarts };
  }
}

function readComponent(reader: Reader): Component {
  const id = reader.u8();
  const sampling = reader.u8();
  return { id, h: sampling >> 4, v: sampling & 15, quantTable: reader.u8(), scanned: false };
}

function readScanComponent(reader: Reader, frame: Frame): ScanComponent {
  const id = reader.u8();
  const tables = reader.u8();
  const component = frame.components.find((one) => one.id === id);
  if (!component) throw damaged('one of its scans is wrong');
  return { component, dcTable: tables >> 4, acTable: tables & 15 };
}

/** T.81, annex C: codes of one length follow each other, and none is all ones. */
function isPrefixCode(lengths: Uint8Array): boolean {
  let code = 0;
  lengths.forEach((count, i) => {
    code = code * 2 + count;
    if (count > 0 && code >= 2 ** (i + 1)) code = Infinity;
  });
  return code > 0 && code < Infinity;
}

function shortest(tables: Map<number, number>, id: number): number {
  const bits = tables.get(id);
  if (bits === undefined) throw damaged('one of its tables is missing');
  return bits;
}

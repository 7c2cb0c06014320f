import { notWhole } from './picture.ts';

/** Reads bytes in order and never past their end. @throws ImageProblem, from each method, when too few are left */
export class Reader {
  readonly bytes: Uint8Array;
  at = 0;
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  get left(): number {
    return this.bytes.length - this.at;
  }

  /** The next bytes, not copied. */
  take(length: number): Uint8Array {
    const start = this.#pass(length);
    return this.bytes.subarray(start, this.at);
  }

  ascii(length: number): string {
    return String.fromCharCode(...this.take(length));
  }

  u8(): number {
    return this.#view.getUint8(this.#pass(1));
  }

  u16(littleEndian = false): number {
    return this.#view.getUint16(this.#pass(2), littleEndian);
  }

  u24le(): number {
    return this.u16(true) + this.u8() * 0x10000;
  }

  u32(littleEndian = false): number {
    return this.#view.getUint32(this.#pass(4), littleEndian);
  }

  #pass(length: number): number {
    if (length > this.left) throw notWhole();
    const start = this.at;
    this.at += length;
    return start;
  }
}

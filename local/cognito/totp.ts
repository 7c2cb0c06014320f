import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const stepSeconds = 30;

/** 160 random bits in base32 (RFC 4226, 4, R6). */
export function newSecret(): string {
  return Array.from(randomBytes(32), (byte) => alphabet[byte % 32]).join('');
}

/** Six digits of now, or of so many steps of 30 seconds before or after it (RFC 6238 with RFC 4226's truncation). */
export function codeOf(secret: string, steps = 0): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 1000 / stepSeconds) + steps));
  const mac = createHmac('sha1', bytesOf(secret)).update(counter).digest();
  const number = mac.readUInt32BE(mac.at(-1)! & 15) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, '0');
}

/** A code of the step before and after counts too: clocks differ. */
export function isCodeOf(secret: string, code: string): boolean {
  const typed = Buffer.from(code);
  return [-1, 0, 1].some(
    (steps) => typed.length === 6 && timingSafeEqual(typed, Buffer.from(codeOf(secret, steps))),
  );
}

function bytesOf(secret: string): Buffer {
  const bits = [...secret].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return Buffer.from(bits.match(/.{8}/g)!.map((byte) => parseInt(byte, 2)));
}

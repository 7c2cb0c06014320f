import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { isIPv4 } from 'node:net';

/** Why a client must not believe a certificate. */
export type CertificateFlaw =
  'expired' | 'not yet valid' | 'wrong name' | 'self-signed' | 'unknown authority';

export interface Certificate {
  cert: string;
  key: string;
}

export interface Authority {
  /** Its own certificate, for clients to trust. */
  cert: string;
  issue(name: string, flaw?: CertificateFlaw): Certificate;
}

const dayMs = 24 * 3600 * 1000;
const oids = {
  commonName: '550403',
  basicConstraints: '551d13',
  subjectAltName: '551d11',
  ecdsaWithSha256: '2a8648ce3d040302',
} as const;

/** An authority with new keys. */
export function createAuthority(): Authority {
  const own = identity('Small internet');
  const stranger = identity('Nobody');
  const cert = certificate(own, own, { isAuthority: true });
  return {
    cert,
    issue(name, flaw) {
      const site = identity(flaw === 'wrong name' ? `not-${name}` : name);
      const issuer = { 'self-signed': site, 'unknown authority': stranger }[flaw as string] ?? own;
      const startsInMs = flaw === 'expired' ? -3 * dayMs : flaw === 'not yet valid' ? dayMs : -dayMs;
      return {
        cert: certificate(site, issuer, { startsInMs }),
        key: site.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      };
    },
  };
}

interface Identity {
  name: string;
  publicKey: KeyObject;
  privateKey: KeyObject;
}

function identity(name: string): Identity {
  return { name, ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) };
}

/** An X.509 version 3 certificate, good for two days (RFC 5280, section 4.1). */
function certificate(
  subject: Identity,
  issuer: Identity,
  { isAuthority = false, startsInMs = -dayMs }: { isAuthority?: boolean; startsInMs?: number },
): string {
  const algorithm = sequence(oid(oids.ecdsaWithSha256));
  const startMs = Date.now() + startsInMs;
  const extension = isAuthority
    ? sequence(oid(oids.basicConstraints), der(0x01, '\xff'), der(0x04, sequence(der(0x01, '\xff'))))
    : sequence(oid(oids.subjectAltName), der(0x04, sequence(alternativeName(subject.name))));
  const body = sequence(
    der(0xa0, der(0x02, '\x02')),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    commonName(issuer.name),
    sequence(time(startMs), time(startMs + 2 * dayMs)),
    commonName(subject.name),
    subject.publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(extension)),
  );
  const signature = der(0x03, '\x00', sign('sha256', body, issuer.privateKey));
  const base64 = sequence(body, algorithm, signature).toString('base64');
  return `-----BEGIN CERTIFICATE-----\n${base64.match(/.{1,64}/g)!.join('\n')}\n-----END CERTIFICATE-----\n`;
}

const alternativeName = (name: string) =>
  isIPv4(name) ? der(0x87, Buffer.from(name.split('.').map(Number))) : der(0x82, name);
const commonName = (name: string) =>
  sequence(der(0x31, sequence(oid(oids.commonName), der(0x0c, name.slice(0, 64)))));
const time = (ms: number) => der(0x18, `${new Date(ms).toISOString().replace(/[-:T]|\.\d+/g, '')}`);
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const sequence = (...parts: Buffer[]) => der(0x30, ...parts);

/** One value in distinguished encoding: its tag, its length, itself. Text is taken byte by byte. */
function der(tag: number, ...parts: (Buffer | string)[]): Buffer {
  const content = Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)),
  );
  const { length } = content;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

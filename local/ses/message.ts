/** A mail as it was asked for. */
export interface AskedMail {
  from: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  headers: { Name: string; Value: string }[];
}

/** @returns the mail, or why it is refused. What this engine would not write is refused, never left out. */
export function readMail(body: string): AskedMail | string {
  let asked: any;
  try {
    asked = JSON.parse(body);
  } catch {
    return 'The body is not JSON.';
  }
  const simple = asked?.Content?.Simple;
  const known = [
    [asked, ['FromEmailAddress', 'Destination', 'Content']],
    [asked?.Destination, ['ToAddresses']],
    [asked?.Content, ['Simple']],
    [simple, ['Subject', 'Body', 'Headers']],
    [simple?.Body, ['Text', 'Html']],
  ] as const;
  for (const [part, names] of known) {
    if (typeof part !== 'object' || part === null) return `A part with ${names.join(', ')} is missing.`;
    const other = Object.keys(part).find((name) => !(names as readonly string[]).includes(name));
    if (other !== undefined) return `This engine does not know ${other}.`;
  }
  const [to, ...others] = asked.Destination.ToAddresses ?? [];
  if (others.length > 0) return 'This engine sends to one address.';
  const headers = simple.Headers ?? [];
  const mail = {
    from: asked.FromEmailAddress,
    to,
    subject: simple.Subject?.Data,
    text: simple.Body.Text?.Data,
    html: simple.Body.Html?.Data,
    headers,
  };
  const { headers: _, text: _text, html: _html, ...lines } = mail;
  if (Object.values(mail).includes(undefined)) return 'From, To, Subject, Text and Html are needed.';
  const values = [...Object.values(lines), ...headers.flatMap(({ Name, Value }: never) => [Name, Value])];
  if (values.some((value) => typeof value !== 'string' || /[\r\n]/.test(value))) {
    return 'A header must be one line of text.';
  }
  return mail;
}

/** The mail as a file (RFC 5322, with both texts as RFC 2046's multipart/alternative). */
export function toMessage(
  { from, to, subject, text, html, headers }: AskedMail,
  id: string,
  now: Date,
): string {
  const boundary = `part-${id}`;
  const part = (type: string, content: string) => [
    `--${boundary}`,
    `Content-Type: ${type}; charset=UTF-8`,
    'Content-Transfer-Encoding: 8bit',
    '',
    content,
  ];
  return [
    `From: ${from}`,
    `To: ${to}`,
    `Subject: ${encoded(subject)}`,
    `Date: ${now.toUTCString().replace('GMT', '+0000')}`,
    `Message-ID: <${id}@local>`,
    ...headers.map(({ Name, Value }) => `${Name}: ${Value}`),
    'MIME-Version: 1.0',
    `Content-Type: multipart/alternative; boundary="${boundary}"`,
    '',
    ...part('text/plain', text),
    ...part('text/html', html),
    `--${boundary}--`,
    '',
  ]
    .join('\n')
    .replaceAll('\n', '\r\n');
}

/** Headers are ASCII (RFC 2047). */
function encoded(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return `=?UTF-8?B?${Buffer.from(text).toString('base64')}?=`;
}

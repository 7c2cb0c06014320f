import type { ReactNode } from 'react';
import { CodeBlock } from '@/components/code-block.tsx';
import { ReferenceLink } from '@/layout/reference-link.tsx';
import { Step } from './step.tsx';

const errorSample = `{
  "error": "width must be a multiple of 64, at least 512.",
  "code": "INVALID_PARAMETERS"
}`;

/** What a program that calls the API has to reckon with. */
export function KnowledgeStep() {
  return (
    <Step number={6} title="Before you build on it">
      <ReferenceNote />
      <div className="grid grid-cols-1 gap-x-10 gap-y-6 md:grid-cols-2">
        <Fact title="Errors say what to change">
          <p>
            Each has a sentence for people and a <code>code</code> for programs. The sentence may be reworded,
            the code stays. <code>X-Request-Id</code> is on every answer; send it along when you ask for help.
          </p>
          <CodeBlock code={errorSample} label="sample error" />
        </Fact>
        <Fact title="Retries are safe">
          <p>
            Send an <code>Idempotency-Key</code> header with a value of your own, a UUID for instance. Within
            24 hours, the same body with the same value gets the first result and is charged once.
          </p>
          <CodeBlock code="Idempotency-Key: 3f0c2a9e-5b7d-4c1e-9a86-d2f4b8e07c15" label="sample header" />
          <p>
            When an answer has <code>Retry-After</code>, wait that many seconds before you try again.
          </p>
        </Fact>
        <Fact title="10 requests a minute">
          <p>
            Each key may send 10 requests for images in any 60 seconds; beyond that the answer is 429 with the
            code <code>RATE_LIMITED</code>. The <code>RateLimit</code> header says how many are left.
          </p>
        </Fact>
        <Fact title="1 credit a megapixel">
          <p>
            Each image costs 1 credit for every started megapixel (1,048,576 pixels): {square(1024)} costs 1,
            {square(2048)} costs 4. Requests that fail cost nothing.
          </p>
        </Fact>
        <Fact title="Links work for 1 hour">
          <p>
            Whoever has a link can open it until then. Download what you want to keep, or fetch new links.
          </p>
        </Fact>
        <Fact title="Seeds repeat an image">
          <p>
            The same identity, parameters and <code>seed</code> make the same images. Without one, a seed is
            drawn and told in the answer.
          </p>
        </Fact>
      </div>
    </Step>
  );
}

function ReferenceNote() {
  return (
    <p className="max-w-2xl text-pretty">
      Every endpoint, parameter and error is in the{' '}
      <ReferenceLink className="underline underline-offset-4 hover:decoration-2">API reference</ReferenceLink>
      , where you can try them with your key.
    </p>
  );
}

/** Not broken across lines. */
function square(sidePx: number): string {
  return `${sidePx}\u00a0×\u00a0${sidePx}`;
}

function Fact({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="grid min-w-0 grid-cols-1 content-start gap-2 text-pretty">
      <h3 className="font-medium">{title}</h3>
      {children}
    </section>
  );
}

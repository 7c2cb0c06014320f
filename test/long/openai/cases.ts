/** What an SDK is asked to do. Both drivers (`sdk.mjs`, `sdk.py`) know all of it but `ai`, which is for JavaScript alone. */
export interface Case {
  name: string;
  call:
    | 'images'
    | 'twice'
    | 'at-once'
    | 'stream'
    | 'models'
    | 'model'
    | 'edit'
    | 'edit-json'
    | 'vary'
    | 'chat'
    | 'ai';
  /** The package of the Vercel AI SDK: that of `ai` 7, or, with `-6`, of `ai` 6. */
  provider?: `openai${'' | '-compatible'}${'' | '-6'}`;
  key: string;
  baseUrl: string;
  /** Members that the SDK's types know. */
  body?: Record<string, unknown>;
  /** Members of ours. */
  extra?: Record<string, unknown>;
  headers?: Record<string, string>;
  maxRetries?: number;
}

/** What an SDK made of it. */
export interface Outcome {
  ok?: any;
  /** Of OpenAI's SDKs: the class of their exception, and what it tells. */
  error?: {
    name: string;
    status: number | null;
    code: string | null;
    param: string | null;
    type: string | null;
    message: string;
    requestId: string | null;
  };
}

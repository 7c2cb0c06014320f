/* Made by `npm run openapi -- --write`. Do not edit. */
export interface paths {
  '/generate': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List stored requests
     * @description A page at a time; `nextCursor` is null on the last one. Links are signed anew.
     */
    get: operations['listGenerations'];
    put?: never;
    /**
     * Generate images
     * @description Answers once the images are stored. Checks come in the order of the error codes: the key, the rate limit, the body, the identity, the parameters, the tier, the credits, the model. Nothing is charged for a request that fails.
     *
     *     At most 10 in 60 seconds for one API key.
     */
    post: operations['createGeneration'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/generate/{requestId}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Fetch a stored request
     * @description Signs its links anew. Requests are kept for 90 days.
     *
     *     At most 60 in 60 seconds for one API key or account.
     */
    get: operations['getGeneration'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/identities': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List the identities that may be used
     * @description An identity that is not `available` now is listed too: generating with it is 503 IDENTITY_UNAVAILABLE.
     */
    get: operations['listIdentities'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/licenses': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List the account's licenses (access records)
     * @description Active ones and those that have ended. `usable` says whether one generates now.
     */
    get: operations['listLicenses'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/usage': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * A license's billing period
     * @description Counts requests by key and those of the playground.
     *
     *     At most 30 in 60 seconds for one account.
     */
    get: operations['getUsage'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/keys': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * List the account's API keys
     * @description Newest first, those that have expired or were revoked too.
     */
    get: operations['listKeys'];
    put?: never;
    /**
     * Create an API key
     * @description For one license, whose credits it spends. A license has at most 25 active keys.
     *
     *     At most 5 a second of all callers together, 10 at once; beyond that, 429 RATE_LIMITED without `RateLimit` headers.
     */
    post: operations['createKey'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/keys/{keyId}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    /**
     * Revoke an API key
     * @description For good, from the next request on. Asking again answers the same.
     *
     *     At most 5 a second of all callers together, 10 at once; beyond that, 429 RATE_LIMITED without `RateLimit` headers.
     */
    delete: operations['revokeKey'];
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/uploads': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Open an upload for a reference image
     * @description By session the body names one of the account's licenses; by key it must not, and may be left out.
     *
     *     At most 40 in 60 seconds for one API key or account.
     */
    post: operations['createUpload'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/playground/generate': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /**
     * Generate images by session
     * @description POST /generate for a signed-in account, which names the license that pays.
     *
     *     At most 10 in 60 seconds for one account.
     */
    post: operations['createPlaygroundGeneration'];
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/health': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * Whether the service is up
     * @description The models are asked at most every 10 seconds.
     */
    get: operations['getHealth'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/openapi.json': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /**
     * This document
     * @description Made from the schemas that check requests.
     *
     *     At most 5 a second of all callers together, 10 at once; beyond that, 429 RATE_LIMITED without `RateLimit` headers.
     */
    get: operations['getOpenApi'];
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    GenerationRequest: {
      /** @description From `GET /identities`. Names and slugs are not IDs. */
      identityId: string;
      /** @description What to paint. Lengths count Unicode code points. */
      prompt: string;
      /**
       * @description What to leave out.
       * @default
       */
      negativePrompt?: string;
      /** @description The same seed and parameters make the same image. Output *i* uses seed + *i*. Random when it is left out. Another `outputFormat` is another file of the same picture. */
      seed?: number;
      /**
       * @description More steps take longer.
       * @default 30
       */
      numInferenceSteps?: number;
      /**
       * @description How closely the prompt is followed.
       * @default 7.5
       */
      guidanceScale?: number;
      /**
       * @description Images to make. Above the license's `maxOutputs` the answer is 400 TIER_LIMIT.
       * @default 1
       */
      numOutputs?: number;
      /**
       * @description Pixels. Above the license's `maxSidePx` the answer is 400 TIER_LIMIT.
       * @default 1024
       */
      width?: number;
      /**
       * @description Pixels. Above the license's `maxSidePx` the answer is 400 TIER_LIMIT.
       * @default 1024
       */
      height?: number;
      /**
       * @description What the images are stored as. `png` keeps every pixel as it was painted; `webp` and `jpeg` have quality 90 and are files of a fraction of the size.
       * @default png
       * @enum {string}
       */
      outputFormat?: 'png' | 'webp' | 'jpeg';
      /**
       * @description Pictures of a product, for identities with `productPhotos` alone: at most 4, each by a public https:// URL (host name only: no address, user, password or other port) or by the ID of an upload. PNG, JPEG or WebP, at most 10 MiB and 40 megapixels. One that can't be fetched or read is 400 INVALID_PARAMETERS, before any credit is held.
       * @default []
       */
      referenceImages?: {
        url?: string;
        uploadId?: string;
      }[];
      /**
       * @description `exact_product` keeps the product as it is and needs at least one reference image.
       * @default reference
       * @enum {string}
       */
      referenceMode?: 'exact_product' | 'reference';
      /**
       * @description Asks for packaging, logo and label to be kept accurate, where the identity can.
       * @default false
       */
      preserveBranding?: boolean;
    };
    PlaygroundGenerationRequest: {
      /** @description From `GET /identities`. Names and slugs are not IDs. */
      identityId: string;
      /** @description What to paint. Lengths count Unicode code points. */
      prompt: string;
      /**
       * @description What to leave out.
       * @default
       */
      negativePrompt?: string;
      /** @description The same seed and parameters make the same image. Output *i* uses seed + *i*. Random when it is left out. Another `outputFormat` is another file of the same picture. */
      seed?: number;
      /**
       * @description More steps take longer.
       * @default 30
       */
      numInferenceSteps?: number;
      /**
       * @description How closely the prompt is followed.
       * @default 7.5
       */
      guidanceScale?: number;
      /**
       * @description Images to make. Above the license's `maxOutputs` the answer is 400 TIER_LIMIT.
       * @default 1
       */
      numOutputs?: number;
      /**
       * @description Pixels. Above the license's `maxSidePx` the answer is 400 TIER_LIMIT.
       * @default 1024
       */
      width?: number;
      /**
       * @description Pixels. Above the license's `maxSidePx` the answer is 400 TIER_LIMIT.
       * @default 1024
       */
      height?: number;
      /**
       * @description What the images are stored as. `png` keeps every pixel as it was painted; `webp` and `jpeg` have quality 90 and are files of a fraction of the size.
       * @default png
       * @enum {string}
       */
      outputFormat?: 'png' | 'webp' | 'jpeg';
      /**
       * @description Pictures of a product, for identities with `productPhotos` alone: at most 4, each by a public https:// URL (host name only: no address, user, password or other port) or by the ID of an upload. PNG, JPEG or WebP, at most 10 MiB and 40 megapixels. One that can't be fetched or read is 400 INVALID_PARAMETERS, before any credit is held.
       * @default []
       */
      referenceImages?: {
        url?: string;
        uploadId?: string;
      }[];
      /**
       * @description `exact_product` keeps the product as it is and needs at least one reference image.
       * @default reference
       * @enum {string}
       */
      referenceMode?: 'exact_product' | 'reference';
      /**
       * @description Asks for packaging, logo and label to be kept accurate, where the identity can.
       * @default false
       */
      preserveBranding?: boolean;
      /** @description One of the account's licenses, from `GET /licenses`. */
      licenseId: string;
    };
    CreateKeyRequest: {
      /** @description One of the account's licenses, from `GET /licenses`. */
      licenseId: string;
      /** @description What you know the key by. */
      name: string;
      /** @description ISO 8601 with a zone, in the future and before the year 10000 in UTC. Null or left out: the key does not expire. */
      expiresAt?: string | null;
    };
    UploadByKeyRequest: {
      /**
       * @description What the file is, if you know.
       * @enum {string}
       */
      contentType?: 'image/png' | 'image/jpeg' | 'image/webp';
    };
    UploadBySessionRequest: {
      /**
       * @description What the file is, if you know.
       * @enum {string}
       */
      contentType?: 'image/png' | 'image/jpeg' | 'image/webp';
      /** @description One of the account's licenses, from `GET /licenses`. */
      licenseId: string;
    };
    Generation: {
      /**
       * Format: uuid
       * @description UUID of the stored request. It does not change, and GET /generate/{requestId} fetches it.
       */
      requestId: string;
      /** @description Signed links to the images, open to everyone who has them for an hour. Fetch the request again for new ones. */
      outputs: string[];
      identity: {
        id: string;
        name: string;
      };
      /** @description How many reference images the model says it used. */
      referenceImagesUsed: number;
      usage: {
        /** @description Credits used in the period, this request included. */
        creditsUsed: number;
        /** @description Credits of a period. */
        creditsLimit: number;
        /** @description `creditsLimit` less `creditsUsed`. */
        creditsRemaining: number;
        /** @description What this request was charged. */
        creditsCharged: number;
        /**
         * Format: date-time
         * @description When the next period's credits begin.
         */
        periodResetDate: string;
      };
      /** @description Milliseconds from acceptance to completion. */
      processingTimeMs: number;
      /** @description The seed of the first output; each further one has the next. */
      seed: number;
    };
    DryRun: {
      /**
       * @description Nothing was painted, charged or stored.
       * @constant
       */
      dryRun: true;
      /**
       * @description A request that would be refused is answered with its refusal.
       * @constant
       */
      accepted: true;
      identity: {
        id: string;
        name: string;
      };
      /** @description What the request would be charged; 0 where its Idempotency-Key stands for a result already. */
      credits: number;
      /** @description As it is: a dry run charges nothing. What running requests hold is not in it. */
      usage: {
        /** @description Credits used in the period, this request included. */
        creditsUsed: number;
        /** @description Credits of a period. */
        creditsLimit: number;
        /** @description `creditsLimit` less `creditsUsed`. */
        creditsRemaining: number;
        /** @description What this request was charged. */
        creditsCharged: number;
        /**
         * Format: date-time
         * @description When the next period's credits begin.
         */
        periodResetDate: string;
      };
    };
    GenerationEvents: {
      accepted: {
        /**
         * Format: uuid
         * @description UUID of the stored request. It does not change, and GET /generate/{requestId} fetches it.
         */
        requestId: string;
        creditsReserved: number;
      };
      /** @description The model began. */
      started: Record<string, never>;
      progress: {
        step: number;
        steps: number;
      };
      completed: components['schemas']['Generation'];
      /** @description The error that a plain answer would have been, with its status. */
      failed: {
        error: string;
        code: string;
        status: number;
      };
    };
    StoredGeneration: {
      /**
       * Format: uuid
       * @description UUID of the stored request. It does not change, and GET /generate/{requestId} fetches it.
       */
      id: string;
      licenseId: string;
      /** @enum {string} */
      type: 'text_to_image' | 'reference' | 'exact_product';
      /**
       * @description COMPLETED, FAILED and TIMEOUT are final and never change.
       * @enum {string}
       */
      status: 'QUEUED' | 'PROCESSING' | 'COMPLETED' | 'FAILED' | 'TIMEOUT';
      /** @description As it was when the request was accepted. */
      identity: {
        id: string;
        name: string;
        slug: string;
      };
      prompt: string;
      negativePrompt: string;
      /** @description The seed of the first output; each further one has the next. */
      seed: number;
      /** @description Inference steps. */
      steps: number;
      /** @description Guidance scale. */
      cfgScale: number;
      /** @description Pixels. */
      width: number;
      /** @description Pixels. */
      height: number;
      numOutputs: number;
      /**
       * @description What the images are stored as.
       * @enum {string}
       */
      outputFormat: 'png' | 'webp' | 'jpeg';
      /** @enum {string} */
      referenceMode: 'exact_product' | 'reference';
      preserveBranding: boolean;
      /** @description The first of `outputs`; null unless the request completed. */
      outputUrl: string | null;
      /** @description Signed links to the images, open to everyone who has them for an hour. Fetch the request again for new ones. */
      outputs: string[];
      /** @description Why it failed; null unless it did. */
      errorMessage: string | null;
      /** @description 0 unless the request completed. */
      creditsCharged: number;
      /** @description How many reference images the model says it used. */
      referenceImagesUsed: number;
      /** @description Milliseconds from acceptance to the end; null until then. */
      processingTimeMs: number | null;
      /** @description What made the images; null unless the request completed. */
      modelVersion: string | null;
      /**
       * Format: date-time
       * @description When the request was accepted.
       */
      createdAt: string;
      /** @description When the model began; null until then. */
      startedAt: string | null;
      /** @description When it ended, however it ended; null until then. */
      completedAt: string | null;
    };
    StoredGenerationList: {
      /** @description Newest first. A filtered page may hold fewer than `limit`, or none, and still have a next one. */
      generations: components['schemas']['StoredGeneration'][];
      /** @description Send it as `cursor` for the next page; null on the last one. */
      nextCursor: string | null;
    };
    IdentityList: {
      identities: {
        /** @description Send it as `identityId`. */
        id: string;
        name: string;
        /** @description The name as it stands in addresses of pages. */
        slug: string;
        description: string;
        /** @description Whether it takes reference images of products. */
        productPhotos: boolean;
        /** @description Whether it has an active model right now. */
        available: boolean;
      }[];
    };
    LicenseList: {
      /** @description Oldest first. */
      licenses: {
        licenseId: string;
        /** @description The tier's label. */
        tier: string;
        /**
         * @description `past_due` suspends the license until it is paid.
         * @enum {string}
         */
        status: 'active' | 'past_due' | 'ended';
        /** @description Whether it generates now and may have keys: active, with API access, and not past its end. */
        usable: boolean;
        /** @description Whether it may be used by API at all. */
        apiAccess: boolean;
        /** @description Whether every identity of the founding catalog may be used. */
        foundingCatalog: boolean;
        /** @description Identities that are granted beside the founding catalog. */
        identityIds: string[];
        /** @description Credits a month. */
        creditsLimit: number;
        /** @description The largest `numOutputs` of a request. */
        maxOutputs: number;
        /** @description The largest `width` and `height` of a request, in pixels. */
        maxSidePx: number;
        /** Format: date-time */
        billingPeriodStart: string;
        /**
         * Format: date-time
         * @description When the credits of the next period begin.
         */
        billingPeriodEnd: string;
        /** @description When the license ends; null when no end is set. */
        activeUntil: string | null;
        /** Format: date-time */
        createdAt: string;
      }[];
    };
    Usage: {
      licenseId: string;
      stats: {
        /** @description Credits used in the period. */
        current: number;
        /** @description Credits of a period. */
        limit: number;
        /** @description Whole percent of the limit, rounded down; over 100 when the limit was lowered below what is used. */
        percentage: number;
        /** Format: date-time */
        billingPeriodStart: string;
        /**
         * Format: date-time
         * @description When the credits of the next period begin.
         */
        billingPeriodEnd: string;
        /** @description Days until the period's end, counting the one that has begun. */
        daysRemaining: number;
        /** @description The tier's label. */
        tier: string;
      };
      /** @description The period's newest 20 requests, newest first, whatever became of them. */
      history: {
        /**
         * Format: uuid
         * @description UUID of the stored request. It does not change, and GET /generate/{requestId} fetches it.
         */
        requestId: string;
        /** @enum {string} */
        type: 'text_to_image' | 'reference' | 'exact_product';
        /** @enum {string} */
        status: 'QUEUED' | 'PROCESSING' | 'COMPLETED' | 'FAILED' | 'TIMEOUT';
        identity: {
          id: string;
          name: string;
          slug: string;
        };
        numOutputs: number;
        /** @description 0 unless the request completed. */
        creditsCharged: number;
        /** Format: date-time */
        createdAt: string;
        /** @description When it ended, however it ended; null until then. */
        completedAt: string | null;
      }[];
      /** @description What the period counts of requests that completed. */
      aggregates: {
        /** @description Every type, those without a request too. */
        byType: {
          text_to_image: {
            /** @description Requests that completed. */
            requests: number;
            /** @description What they were charged. */
            credits: number;
          };
          reference: {
            /** @description Requests that completed. */
            requests: number;
            /** @description What they were charged. */
            credits: number;
          };
          exact_product: {
            /** @description Requests that completed. */
            requests: number;
            /** @description What they were charged. */
            credits: number;
          };
        };
        /** @description By the identity's ID. */
        byIdentity: {
          [key: string]: {
            /** @description Requests that completed. */
            requests: number;
            /** @description What they were charged. */
            credits: number;
            name: string;
            slug: string;
          };
        };
        /** @description Every UTC day of the period until today, those without a request too, oldest first. */
        byDay: {
          /** @description Requests that completed. */
          requests: number;
          /** @description What they were charged. */
          credits: number;
          /**
           * Format: date
           * @description A UTC day.
           */
          date: string;
        }[];
      };
    };
    CreatedKey: {
      /** @description What the key goes by. It opens nothing. */
      keyId: string;
      /** @description The raw key. This is the only time that it is shown. */
      key: string;
      /** @description The first characters of the raw key, to know it by. */
      keyPrefix: string;
      name: string;
      licenseId: string;
      /** Format: date-time */
      createdAt: string;
      /** @description Null for a key that does not expire. */
      expiresAt: string | null;
    };
    KeyList: {
      /** @description Every key of the account, newest first, whatever became of it. */
      keys: {
        /** @description What the key goes by. It opens nothing. */
        keyId: string;
        /** @description The first characters of the raw key, to know it by. */
        keyPrefix: string;
        name: string;
        licenseId: string;
        /** @enum {string} */
        status: 'active' | 'expired' | 'revoked';
        /** Format: date-time */
        createdAt: string;
        /** @description The last request that counted against a limit, if any. */
        lastUsedAt: string | null;
        /** @description Null for a key that does not expire. */
        expiresAt: string | null;
        /** @description Null unless it was revoked. */
        revokedAt: string | null;
      }[];
    };
    RevokedKey: {
      /** @description What the key goes by. It opens nothing. */
      keyId: string;
      /** @constant */
      status: 'revoked';
      /** Format: date-time */
      revokedAt: string;
    };
    Upload: {
      /** @description Send it in `referenceImages`, once the file was sent. */
      uploadId: string;
      /**
       * Format: uri
       * @description Where to POST a form (multipart/form-data) of all `fields`, and then the file in a field named `file`.
       */
      url: string;
      /** @description The fields of the form, as they are. */
      fields: {
        [key: string]: string;
      };
      /** @description The largest file that is taken. */
      maxBytes: number;
      /**
       * Format: date-time
       * @description Until then the file can be sent, and used.
       */
      expiresAt: string;
    };
    Health: {
      /**
       * @description `ok` when every part is up.
       * @enum {string}
       */
      status: 'ok' | 'degraded';
      /**
       * @description The API itself: whoever reads this has reached it.
       * @constant
       */
      api: 'up';
      /**
       * @description The models. While they are down, generating answers 503.
       * @enum {string}
       */
      inference: 'up' | 'down';
    };
    Error: {
      /** @description Says what to change, in words that may improve. */
      error: string;
      /** @description For programs. It does not change. */
      code: string;
    };
    /**
     * @description Every code that an error may have.
     * @enum {string}
     */
    ErrorCode:
      | 'CREDIT_LIMIT_EXCEEDED'
      | 'GENERATION_FAILED'
      | 'IDEMPOTENCY_IN_PROGRESS'
      | 'IDEMPOTENCY_MISMATCH'
      | 'IDENTITY_MISMATCH'
      | 'IDENTITY_NOT_FOUND'
      | 'IDENTITY_UNAVAILABLE'
      | 'INTERNAL_ERROR'
      | 'INVALID_API_KEY'
      | 'INVALID_BODY'
      | 'INVALID_PARAMETERS'
      | 'INVALID_SESSION'
      | 'KEY_LIMIT_REACHED'
      | 'KEY_NOT_FOUND'
      | 'LICENSE_INACTIVE'
      | 'LICENSE_NOT_FOUND'
      | 'MISSING_IDENTITY'
      | 'NOT_FOUND'
      | 'PAYLOAD_TOO_LARGE'
      | 'RATE_LIMITED'
      | 'REQUEST_BLOCKED'
      | 'REQUEST_NOT_FOUND'
      | 'SERVICE_UNAVAILABLE'
      | 'TIER_LIMIT'
      | 'TIMEOUT';
  };
  responses: never;
  parameters: {
    /** @description The `requestId` of an answer. */
    requestId: string;
    /** @description From `GET /keys`; never the key itself. */
    keyId: string;
    /** @description How many to list. */
    limit: number;
    /** @description The `nextCursor` of an earlier answer. */
    cursor: string;
    /** @description Only requests to this identity. */
    identityId: string;
    /** @description Only requests with this status. */
    status: 'QUEUED' | 'PROCESSING' | 'COMPLETED' | 'FAILED' | 'TIMEOUT';
    /** @description Only requests of this type. */
    type: 'text_to_image' | 'reference' | 'exact_product';
    /** @description One of the account's licenses, from `GET /licenses`. */
    licenseId: string;
    /** @description By session only, where it is required: one of the account's licenses. By key it is refused: a key names its license. */
    licenseIdBySession: string;
    /** @description By session only: narrows the answer to one of the account's licenses. By key it is refused. */
    narrowedBySession: string;
    /** @description Every check of the request, and what it would cost: nothing is painted, held, charged or stored. A refusal is the one that the request itself would have. It counts for the rate limit. */
    dryRun: boolean;
    /** @description Makes a retry safe: 1 to 255 visible ASCII characters, bare or as a quoted string. For 24 hours a repeat with the same body answers with the first result and charges nothing. A request that failed frees its key. Send a UUID of your own for each request that you mean. */
    idempotencyKey: string;
  };
  requestBodies: never;
  headers: {
    /** @description Quote it when you ask for help. Of POST /generate it is the UUID of the stored request, if there is one. */
    RequestId: string;
    /** @description As on every answer, except the firewall's own. */
    RequestIdUnlessBlocked: string;
    /** @description Whole seconds to wait. */
    RetryAfter: number;
    /** @description No answer may be stored: answers hold links that open without a key. */
    CacheControl: 'no-store';
    /** @description What is left of the limit, and the seconds until more is (draft-ietf-httpapi-ratelimit-headers). */
    RateLimit: string;
    /** @description The limit itself: requests, and the seconds of the window that they are counted in. */
    RateLimitPolicy: string;
    /** @description There when the answer is that of an earlier request with the same Idempotency-Key. */
    IdempotentReplayed: 'true';
  };
  pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
  listGenerations: {
    parameters: {
      query?: {
        /** @description How many to list. */
        limit?: components['parameters']['limit'];
        /** @description The `nextCursor` of an earlier answer. */
        cursor?: components['parameters']['cursor'];
        /** @description Only requests to this identity. */
        identityId?: components['parameters']['identityId'];
        /** @description Only requests with this status. */
        status?: components['parameters']['status'];
        /** @description Only requests of this type. */
        type?: components['parameters']['type'];
        /** @description By session only, where it is required: one of the account's licenses. By key it is refused: a key names its license. */
        licenseId?: components['parameters']['licenseIdBySession'];
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description A license's stored requests, newest first. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['StoredGenerationList'];
        };
      };
      /** @description `INVALID_PARAMETERS` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `INVALID_API_KEY`, `INVALID_SESSION` */
      401: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `REQUEST_BLOCKED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `LICENSE_NOT_FOUND` */
      404: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `PAYLOAD_TOO_LARGE` */
      413: {
        headers: {
          'X-Request-Id': components['headers']['RequestIdUnlessBlocked'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `RATE_LIMITED` */
      429: {
        headers: {
          'X-Request-Id': components['headers']['RequestIdUnlessBlocked'];
          'Cache-Control': components['headers']['CacheControl'];
          'Retry-After': components['headers']['RetryAfter'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `INTERNAL_ERROR` */
      500: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `SERVICE_UNAVAILABLE` */
      503: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          'Retry-After': components['headers']['RetryAfter'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `TIMEOUT` */
      504: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
    };
  };
  createGeneration: {
    parameters: {
      query?: {
        /** @description Every check of the request, and what it would cost: nothing is painted, held, charged or stored. A refusal is the one that the request itself would have. It counts for the rate limit. */
        dryRun?: components['parameters']['dryRun'];
      };
      header?: {
        /** @description Makes a retry safe: 1 to 255 visible ASCII characters, bare or as a quoted string. For 24 hours a repeat with the same body answers with the first result and charges nothing. A request that failed frees its key. Send a UUID of your own for each request that you mean. */
        'Idempotency-Key'?: components['parameters']['idempotencyKey'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['GenerationRequest'];
      };
    };
    responses: {
      /** @description The images are stored and charged. Asked for with `Accept: text/event-stream`, the answer is this as soon as the request is accepted, and tells how it goes on. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          'Idempotent-Replayed': components['headers']['IdempotentReplayed'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Generation'] | components['schemas']['DryRun'];
          'text/event-stream': string;
        };
      };
      /** @description `INVALID_BODY`, `MISSING_IDENTITY`, `INVALID_PARAMETERS`, `TIER_LIMIT` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `INVALID_API_KEY`, `IDENTITY_MISMATCH` */
      401: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `REQUEST_BLOCKED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `IDENTITY_NOT_FOUND` */
      404: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `IDEMPOTENCY_IN_PROGRESS` */
      409: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          'Retry-After': components['headers']['RetryAfter'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `PAYLOAD_TOO_LARGE` */
      413: {
        headers: {
          'X-Request-Id': components['headers']['RequestIdUnlessBlocked'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `IDEMPOTENCY_MISMATCH` */
      422: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `CREDIT_LIMIT_EXCEEDED`, `RATE_LIMITED` */
      429: {
        headers: {
          'X-Request-Id': components['headers']['RequestIdUnlessBlocked'];
          'Cache-Control': components['headers']['CacheControl'];
          'Retry-After': components['headers']['RetryAfter'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `GENERATION_FAILED`, `INTERNAL_ERROR` */
      500: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `IDENTITY_UNAVAILABLE`, `SERVICE_UNAVAILABLE` */
      503: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          'Retry-After': components['headers']['RetryAfter'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `TIMEOUT` */
      504: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
    };
  };
  getGeneration: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description The `requestId` of an answer. */
        requestId: components['parameters']['requestId'];
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description The request as it stands now. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['StoredGeneration'];
        };
      };
      /** @description `INVALID_PARAMETERS` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `INVALID_API_KEY`, `INVALID_SESSION` */
      401: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `REQUEST_BLOCKED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `REQUEST_NOT_FOUND`, `NOT_FOUND` */
      404: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `PAYLOAD_TOO_LARGE` */
      413: {
        headers: {
          'X-Request-Id': components['headers']['RequestIdUnlessBlocked'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `RATE_LIMITED` */
      429: {
        headers: {
          'X-Request-Id': components['headers']['RequestIdUnlessBlocked'];
          'Cache-Control': components['headers']['CacheControl'];
          'Retry-After': components['headers']['RetryAfter'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `INTERNAL_ERROR` */
      500: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `SERVICE_UNAVAILABLE` */
      503: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          'Retry-After': components['headers']['RetryAfter'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `TIMEOUT` */
      504: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
    };
  };
  listIdentities: {
    parameters: {
      query?: {
        /** @description By session only: narrows the answer to one of the account's licenses. By key it is refused. */
        licenseId?: components['parameters']['narrowedBySession'];
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Those that the key, or any active license of the account, covers. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['IdentityList'];
        };
      };
      /** @description `INVALID_PARAMETERS` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `INVALID_API_KEY`, `INVALID_SESSION` */
      401: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `REQUEST_BLOCKED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `LICENSE_NOT_FOUND` */
      404: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `PAYLOAD_TOO_LARGE` */
      413: {
        headers: {
          'X-Request-Id': components['headers']['RequestIdUnlessBlocked'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `RATE_LIMITED` */
      429: {
        headers: {
          'X-Request-Id': components['headers']['RequestIdUnlessBlocked'];
          'Cache-Control': components['headers']['CacheControl'];
          'Retry-After': components['headers']['RetryAfter'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `INTERNAL_ERROR` */
      500: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `SERVICE_UNAVAILABLE` */
      503: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          'Retry-After': components['headers']['RetryAfter'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `TIMEOUT` */
      504: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
    };
  };
  listLicenses: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Each with its tier, limits and period. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['LicenseList'];
        };
      };
      /** @description `INVALID_PARAMETERS` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `INVALID_SESSION` */
      401: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `REQUEST_BLOCKED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `PAYLOAD_TOO_LARGE` */
      413: {
        headers: {
          'X-Request-Id': components['headers']['RequestIdUnlessBlocked'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `RATE_LIMITED` */
      429: {
        headers: {
          'X-Request-Id': components['headers']['RequestIdUnlessBlocked'];
          'Cache-Control': components['headers']['CacheControl'];
          'Retry-After': components['headers']['RetryAfter'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `INTERNAL_ERROR` */
      500: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `SERVICE_UNAVAILABLE` */
      503: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          'Retry-After': components['headers']['RetryAfter'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `TIMEOUT` */
      504: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
    };
  };
  getUsage: {
    parameters: {
      query: {
        /** @description One of the account's licenses, from `GET /licenses`. */
        licenseId: components['parameters']['licenseId'];
      };
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Statistics, history and tallies of the period that runs. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Usage'];
        };
      };
      /** @description `INVALID_PARAMETERS` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `INVALID_SESSION` */
      401: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `REQUEST_BLOCKED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `LICENSE_NOT_FOUND` */
      404: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `PAYLOAD_TOO_LARGE` */
      413: {
        headers: {
          'X-Request-Id': components['headers']['RequestIdUnlessBlocked'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `RATE_LIMITED` */
      429: {
        headers: {
          'X-Request-Id': components['headers']['RequestIdUnlessBlocked'];
          'Cache-Control': components['headers']['CacheControl'];
          'Retry-After': components['headers']['RetryAfter'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `INTERNAL_ERROR` */
      500: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `SERVICE_UNAVAILABLE` */
      503: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          'Retry-After': components['headers']['RetryAfter'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `TIMEOUT` */
      504: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
    };
  };
  listKeys: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description What is known of each; never the keys themselves. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['KeyList'];
        };
      };
      /** @description `INVALID_PARAMETERS` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `INVALID_SESSION` */
      401: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `REQUEST_BLOCKED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `PAYLOAD_TOO_LARGE` */
      413: {
        headers: {
          'X-Request-Id': components['headers']['RequestIdUnlessBlocked'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `RATE_LIMITED` */
      429: {
        headers: {
          'X-Request-Id': components['headers']['RequestIdUnlessBlocked'];
          'Cache-Control': components['headers']['CacheControl'];
          'Retry-After': components['headers']['RetryAfter'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `INTERNAL_ERROR` */
      500: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `SERVICE_UNAVAILABLE` */
      503: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          'Retry-After': components['headers']['RetryAfter'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `TIMEOUT` */
      504: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
    };
  };
  createKey: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['CreateKeyRequest'];
      };
    };
    responses: {
      /** @description The only answer that ever shows the raw key. */
      201: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['CreatedKey'];
        };
      };
      /** @description `INVALID_BODY`, `INVALID_PARAMETERS` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `INVALID_SESSION` */
      401: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `LICENSE_INACTIVE`, `REQUEST_BLOCKED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `LICENSE_NOT_FOUND` */
      404: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `KEY_LIMIT_REACHED` */
      409: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `PAYLOAD_TOO_LARGE` */
      413: {
        headers: {
          'X-Request-Id': components['headers']['RequestIdUnlessBlocked'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `RATE_LIMITED` */
      429: {
        headers: {
          'X-Request-Id': components['headers']['RequestIdUnlessBlocked'];
          'Cache-Control': components['headers']['CacheControl'];
          'Retry-After': components['headers']['RetryAfter'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `INTERNAL_ERROR` */
      500: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `SERVICE_UNAVAILABLE` */
      503: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          'Retry-After': components['headers']['RetryAfter'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `TIMEOUT` */
      504: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
    };
  };
  revokeKey: {
    parameters: {
      query?: never;
      header?: never;
      path: {
        /** @description From `GET /keys`; never the key itself. */
        keyId: components['parameters']['keyId'];
      };
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description No request with the key is accepted any more. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['RevokedKey'];
        };
      };
      /** @description `INVALID_PARAMETERS` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `INVALID_SESSION` */
      401: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `REQUEST_BLOCKED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `KEY_NOT_FOUND`, `NOT_FOUND` */
      404: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `PAYLOAD_TOO_LARGE` */
      413: {
        headers: {
          'X-Request-Id': components['headers']['RequestIdUnlessBlocked'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `RATE_LIMITED` */
      429: {
        headers: {
          'X-Request-Id': components['headers']['RequestIdUnlessBlocked'];
          'Cache-Control': components['headers']['CacheControl'];
          'Retry-After': components['headers']['RetryAfter'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `INTERNAL_ERROR` */
      500: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `SERVICE_UNAVAILABLE` */
      503: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          'Retry-After': components['headers']['RetryAfter'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `TIMEOUT` */
      504: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
    };
  };
  createUpload: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: {
      content: {
        'application/json':
          components['schemas']['UploadByKeyRequest'] | components['schemas']['UploadBySessionRequest'];
      };
    };
    responses: {
      /** @description A form to send one file with, within the hour. */
      201: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Upload'];
        };
      };
      /** @description `INVALID_BODY`, `INVALID_PARAMETERS` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `INVALID_API_KEY`, `INVALID_SESSION` */
      401: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `LICENSE_INACTIVE`, `REQUEST_BLOCKED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `LICENSE_NOT_FOUND` */
      404: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `PAYLOAD_TOO_LARGE` */
      413: {
        headers: {
          'X-Request-Id': components['headers']['RequestIdUnlessBlocked'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `RATE_LIMITED` */
      429: {
        headers: {
          'X-Request-Id': components['headers']['RequestIdUnlessBlocked'];
          'Cache-Control': components['headers']['CacheControl'];
          'Retry-After': components['headers']['RetryAfter'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `INTERNAL_ERROR` */
      500: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `SERVICE_UNAVAILABLE` */
      503: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          'Retry-After': components['headers']['RetryAfter'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `TIMEOUT` */
      504: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
    };
  };
  createPlaygroundGeneration: {
    parameters: {
      query?: {
        /** @description Every check of the request, and what it would cost: nothing is painted, held, charged or stored. A refusal is the one that the request itself would have. It counts for the rate limit. */
        dryRun?: components['parameters']['dryRun'];
      };
      header?: {
        /** @description Makes a retry safe: 1 to 255 visible ASCII characters, bare or as a quoted string. For 24 hours a repeat with the same body answers with the first result and charges nothing. A request that failed frees its key. Send a UUID of your own for each request that you mean. */
        'Idempotency-Key'?: components['parameters']['idempotencyKey'];
      };
      path?: never;
      cookie?: never;
    };
    requestBody: {
      content: {
        'application/json': components['schemas']['PlaygroundGenerationRequest'];
      };
    };
    responses: {
      /** @description The images are stored and charged. Asked for with `Accept: text/event-stream`, the answer is this as soon as the request is accepted, and tells how it goes on. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          'Idempotent-Replayed': components['headers']['IdempotentReplayed'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Generation'] | components['schemas']['DryRun'];
          'text/event-stream': string;
        };
      };
      /** @description `INVALID_BODY`, `MISSING_IDENTITY`, `INVALID_PARAMETERS`, `TIER_LIMIT` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `INVALID_SESSION`, `IDENTITY_MISMATCH` */
      401: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `LICENSE_INACTIVE`, `REQUEST_BLOCKED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `IDENTITY_NOT_FOUND`, `LICENSE_NOT_FOUND` */
      404: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `IDEMPOTENCY_IN_PROGRESS` */
      409: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          'Retry-After': components['headers']['RetryAfter'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `PAYLOAD_TOO_LARGE` */
      413: {
        headers: {
          'X-Request-Id': components['headers']['RequestIdUnlessBlocked'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `IDEMPOTENCY_MISMATCH` */
      422: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `CREDIT_LIMIT_EXCEEDED`, `RATE_LIMITED` */
      429: {
        headers: {
          'X-Request-Id': components['headers']['RequestIdUnlessBlocked'];
          'Cache-Control': components['headers']['CacheControl'];
          'Retry-After': components['headers']['RetryAfter'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `GENERATION_FAILED`, `INTERNAL_ERROR` */
      500: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `IDENTITY_UNAVAILABLE`, `SERVICE_UNAVAILABLE` */
      503: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          'Retry-After': components['headers']['RetryAfter'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `TIMEOUT` */
      504: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          RateLimit: components['headers']['RateLimit'];
          'RateLimit-Policy': components['headers']['RateLimitPolicy'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
    };
  };
  getHealth: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description Always 200: the API and the models are told apart by the body. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Health'];
        };
      };
      /** @description `INVALID_PARAMETERS` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `REQUEST_BLOCKED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `PAYLOAD_TOO_LARGE` */
      413: {
        headers: {
          'X-Request-Id': components['headers']['RequestIdUnlessBlocked'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `RATE_LIMITED` */
      429: {
        headers: {
          'X-Request-Id': components['headers']['RequestIdUnlessBlocked'];
          'Cache-Control': components['headers']['CacheControl'];
          'Retry-After': components['headers']['RetryAfter'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `INTERNAL_ERROR` */
      500: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `SERVICE_UNAVAILABLE` */
      503: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          'Retry-After': components['headers']['RetryAfter'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `TIMEOUT` */
      504: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
    };
  };
  getOpenApi: {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    requestBody?: never;
    responses: {
      /** @description OpenAPI 3.1. */
      200: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': Record<string, never>;
        };
      };
      /** @description `INVALID_PARAMETERS` */
      400: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `REQUEST_BLOCKED` */
      403: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `PAYLOAD_TOO_LARGE` */
      413: {
        headers: {
          'X-Request-Id': components['headers']['RequestIdUnlessBlocked'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `RATE_LIMITED` */
      429: {
        headers: {
          'X-Request-Id': components['headers']['RequestIdUnlessBlocked'];
          'Cache-Control': components['headers']['CacheControl'];
          'Retry-After': components['headers']['RetryAfter'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `INTERNAL_ERROR` */
      500: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `SERVICE_UNAVAILABLE` */
      503: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          'Retry-After': components['headers']['RetryAfter'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
      /** @description `TIMEOUT` */
      504: {
        headers: {
          'X-Request-Id': components['headers']['RequestId'];
          'Cache-Control': components['headers']['CacheControl'];
          [name: string]: unknown;
        };
        content: {
          'application/json': components['schemas']['Error'];
        };
      };
    };
  };
}

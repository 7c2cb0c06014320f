export { createClient, type Client, type ClientOptions, type GenerationQuery } from './client.ts';
export { ApiError, ConnectionError, isApiError, TimeoutError, UploadError } from './errors.ts';
export { generate, type GenerateOptions, type GenerateRoute } from './generate.ts';
export {
  generateAsync,
  waitForGeneration,
  type AcceptedGeneration,
  type GenerateAsyncOptions,
  type PendingGeneration,
} from './generate-async.ts';
export { createRequester, type Requester, type RequesterOptions, type TokenSource } from './requester.ts';
export type { AnswerOf, CallOptions, RouteInit, RouteName } from './routes.ts';
export { type WaitOptions } from './stored.ts';
export type * from './types.ts';
export type { components, operations, paths } from './openapi.ts';
export { uploadForm, uploadRefused, type UploadOptions } from './upload.ts';

export {
  batchFile,
  type BatchEntry,
  type BatchLine,
  type BatchOptions,
  type BatchOutcome,
  type BatchStore,
  type BatchSummary,
} from './batch.ts';
export {
  createClient,
  type Client,
  type ClientOptions,
  type GenerationPage,
  type GenerationQuery,
} from './client.ts';
export {
  ApiError,
  ConnectionError,
  DownloadError,
  isApiError,
  StorageError,
  TimeoutError,
  UploadError,
} from './errors.ts';
export { generate, type GenerateOptions, type GenerateRoute } from './generate.ts';
export { generateEvents, type GenerateEventsOptions, type GenerationEvent } from './generate-events.ts';
export type { Image, Images, WithImages } from './images.ts';
export {
  respondAsync,
  waitForGeneration,
  type AcceptedGeneration,
  type RespondAsyncOptions,
  type PendingGeneration,
} from './respond-async.ts';
export type { GenerationBody, ReferenceImage } from './references.ts';
export { createRequester, type Requester, type RequesterOptions, type TokenSource } from './requester.ts';
export type { AnswerOf, CallOptions, RouteInit, RouteName } from './routes.ts';
export { deleteGeneration, type WaitOptions } from './stored.ts';
export type * from './types.ts';
export type { components, operations, paths } from './openapi.ts';
export { uploadForm, uploadRefused, type UploadFile, type UploadOptions } from './upload.ts';

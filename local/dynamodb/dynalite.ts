import { createRequire } from 'node:module';

/**
 * Loads the parts of dynalite 4 that the engine is built from, and gives them types.
 *
 * dynalite is CommonJS, without types. Its validations, expression parsers, actions and key encoding are used
 * as they are; its HTTP server and its store are not (see README.md for why).
 */
const require = createRequire(import.meta.url);

export interface AttributeValue {
  S?: string;
  N?: string;
  B?: string;
  BOOL?: boolean;
  NULL?: boolean;
  SS?: string[];
  NS?: string[];
  BS?: string[];
  L?: AttributeValue[];
  M?: Item;
}
export type Item = Record<string, AttributeValue>;

export interface KeySchemaElement {
  AttributeName: string;
  KeyType: string;
}
export interface IndexDefinition {
  IndexName: string;
  KeySchema: KeySchemaElement[];
  Projection: { ProjectionType: string };
}
export interface TableDefinition {
  TableName: string;
  KeySchema: KeySchemaElement[];
  AttributeDefinitions: { AttributeName: string; AttributeType: string }[];
  GlobalSecondaryIndexes?: IndexDefinition[];
}

/** An attribute's path: names and list positions. */
export type Path = (string | number)[];

/** An operand in a parsed expression: a path, a function or sum of operands, or a literal value. */
export type Operand = Path | { type: string } | AttributeValue;
export interface Expression {
  type: string;
  name?: string;
  args: (Operand | Expression)[];
}
interface UpdateSection {
  path: Path;
  val?: Operand;
}

/**
 * A request after dynalite's validation, which adds the parsed expressions under names with an underscore.
 */
export interface Request {
  TableName: string;
  Key?: Item;
  Item?: Item;
  IndexName?: string;
  Limit?: number;
  ConsistentRead?: boolean;
  ReturnConsumedCapacity?: string;
  ReturnValuesOnConditionCheckFailure?: string;
  _condition?: { expression: Expression };
  _filter?: { expression: Expression };
  _updates?: { sections: UpdateSection[] };
  [parameter: string]: unknown;
}

/** An error for the client, from dynalite or from this engine. */
export interface ServiceFault extends Error {
  statusCode: number;
  body: Record<string, unknown> & { __type: string };
}

export interface ConsumedCapacity {
  TableName: string;
  CapacityUnits: number;
}

export type Callback<T = unknown> = (error: unknown, value?: T) => void;
export type Action = (store: Store, request: Request, done: Callback) => void;

export interface Range {
  gt?: string;
  gte?: string;
  lt?: string;
  lte?: string;
  [option: string]: unknown;
}

export type Write = { type: 'put'; key: string; value: unknown } | { type: 'del'; key: string };
/** Reads a range of the database as it was when the cursor was opened. It has to be closed. */
export interface Cursor<T> {
  /** The next entries, `size` at most; none at the end. */
  nextv(size: number): Promise<T[]>;
  close(): Promise<void>;
}
/** The LevelDB database, or one in memory. Keys are strings, values are JSON. */
export interface Level {
  open(): Promise<void>;
  close(): Promise<void>;
  getSync(key: string): unknown;
  batch(writes: Write[]): Promise<void>;
  values(range: Range): Cursor<unknown>;
  /** Rewrites the files without what was deleted or replaced. Not in memory. */
  compactRange?(start: string, end: string): Promise<void>;
}

/** A part of the database under one prefix, as dynalite's actions use it. */
export interface Section {
  lock(key: string, run: (release: <T>(done: T) => T) => void): void;
  get(key: string, done: Callback): void;
  put(key: string, value: unknown, done: Callback): void;
  del(key: string, done: Callback): void;
  values(range: Range): Cursor<Item>;
}

/** The database as dynalite's actions expect it. */
export interface Store {
  options: { maxItemSize: number };
  getTable(name: string, isData: boolean | Callback<TableDefinition>, done?: Callback<TableDefinition>): void;
  getItemDb(table: string): Section;
  getIndexDb(kind: string, table: string, index: string): Section;
}

type Invalid = ServiceFault | null | undefined;

interface Db {
  create(options: { path?: string }): { db: Level };
  validationError(message: string): ServiceFault;
  validateKey(key: Item, table: TableDefinition): Invalid;
  validateItem(item: Item, table: TableDefinition): Invalid;
  createKey(item: Item, table: TableDefinition, keySchema?: KeySchemaElement[]): string;
  itemSize(item: Item, compressed?: boolean, withOverhead?: boolean, rangeKey?: string): number;
  compare(operator: string, value: AttributeValue, operands: (AttributeValue | undefined)[]): boolean;
  mapPath(path: Path, item: Item): AttributeValue | null | undefined;
  queryTable(
    store: Store,
    table: TableDefinition,
    request: Request,
    range: Range,
    isLocal: boolean,
    fetchItems: boolean,
    startKeyNames: string[],
    done: Callback,
  ): void;
}

/** A shape in dynalite's own description language. */
export type Shape = string | ({ type: string } & Record<string, unknown>);
export interface Validation {
  types: Record<string, Shape>;
  /** Returns what is wrong, if anything is. It also parses the expressions. */
  custom?: (request: Request, store: Pick<Store, 'options'>) => string | undefined;
}

interface Validations {
  checkTypes(body: Record<string, unknown>, types: Record<string, Shape>): Request;
  checkValidations(
    request: Request,
    types: Record<string, Shape>,
    custom: Validation['custom'],
    store: Pick<Store, 'options'>,
  ): void;
}

/** dynalite's helpers, in one object; `fixes.ts` replaces some of its functions. */
export const db = require('dynalite/db/index.js') as Db;
export const { checkTypes, checkValidations } = require('dynalite/validations/index.js') as Validations;

/** An operation's action and validation, by its name in dynalite: `putItem`. */
export function dynaliteOperation(name: string): Validation & { action: Action } {
  const { types, custom } = require(`dynalite/validations/${name}.js`) as Validation;
  return { types, ...(custom && { custom }), action: require(`dynalite/actions/${name}.js`) as Action };
}

/** Runs one of dynalite's actions. */
export function call(action: Action, store: Store, request: Request): Promise<unknown> {
  return new Promise((resolve, reject) =>
    action(store, request, (error, answer) => (error ? reject(error) : resolve(answer))),
  );
}

import type { Schema } from '../../protocol/check.ts';

/** How text or thinking is split into deltas: one per word unless `chunks` or `times` is set. */
export interface Pacing {
  readonly chunks?: number;
  readonly times?: number;
  readonly delayMs?: number;
}

/** How the arguments of a call are split into deltas; the last one waits until the file `await` exists. */
export interface CallPacing {
  readonly chunks?: number;
  readonly await?: string;
}

/** A tool call. */
export interface ScriptedCall {
  readonly name: string;
  readonly id?: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** Replaces `arguments`; need not be JSON. */
  readonly rawArguments?: string;
}

/** A failure with an HTTP status. */
export interface ScriptedError {
  readonly status: number;
  readonly message?: string;
  readonly retryAfterMs?: number;
}

/** The usage of a response; omitted counts are zero. */
export interface TokenCounts {
  readonly input?: number;
  readonly output?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
}

/** A step of a scripted answer, as script files spell it. */
export type ScriptedStep =
  | ({ readonly text: string } & Pacing)
  | ({ readonly thinking: string } & Pacing)
  | ({ readonly toolCall: ScriptedCall } & CallPacing)
  | { readonly delayMs: number }
  | { readonly usage: TokenCounts }
  | { readonly stop: 'stop' | 'length' | 'toolUse' }
  | { readonly error: ScriptedError }
  | { readonly overflow: true }
  | { readonly cut: true }
  | { readonly stall: true }
  | { readonly await: string };

const string: Schema = { type: 'string' };
const name: Schema = { type: 'string', minLength: 1 };
const count: Schema = { type: 'integer', minimum: 0 };
const positive: Schema = { type: 'integer', minimum: 1 };
const onlyTrue: Schema = { const: true };
// The maximum of setTimeout.
const milliseconds: Schema = { type: 'number', minimum: 0, maximum: 2 ** 31 - 1 };

const closed = (properties: Record<string, Schema>, required: readonly string[]): Schema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

const pacing = { chunks: positive, times: positive, delayMs: milliseconds };
const call = closed({ name, id: name, arguments: { type: 'object' }, rawArguments: string }, ['name']);
const failure = closed(
  { status: { type: 'integer', minimum: 100, maximum: 999 }, message: string, retryAfterMs: milliseconds },
  ['status'],
);
const tokens = closed({ input: count, output: count, cacheRead: count, cacheWrite: count }, []);

/** The schema of each kind of step, by the key that names the kind. */
export const stepSchemas: Readonly<Record<string, Schema>> = {
  text: closed({ text: string, ...pacing }, ['text']),
  thinking: closed({ thinking: string, ...pacing }, ['thinking']),
  toolCall: closed({ toolCall: call, chunks: positive, await: name }, ['toolCall']),
  usage: closed({ usage: tokens }, ['usage']),
  stop: closed({ stop: { enum: ['stop', 'length', 'toolUse'] } }, ['stop']),
  error: closed({ error: failure }, ['error']),
  overflow: closed({ overflow: onlyTrue }, ['overflow']),
  cut: closed({ cut: onlyTrue }, ['cut']),
  stall: closed({ stall: onlyTrue }, ['stall']),
  await: closed({ await: name }, ['await']),
  // Last: it is also a field of other steps.
  delayMs: closed({ delayMs: milliseconds }, ['delayMs']),
};

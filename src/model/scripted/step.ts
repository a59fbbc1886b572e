import type { Schema } from '../../protocol/check.ts';

/** Text or thinking, cut into deltas: one per word unless `chunks` or `times` say otherwise. */
export interface Pacing {
  readonly chunks?: number;
  readonly times?: number;
  readonly delayMs?: number;
}

/** The arguments of a call, cut into deltas; `await` names a file that has to exist before the last of them. */
export interface CallPacing {
  readonly chunks?: number;
  readonly await?: string;
}

/** A call of a tool. */
export interface ScriptedCall {
  readonly name: string;
  readonly id?: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  /** Instead of `arguments`: what the model writes, JSON or not. */
  readonly rawArguments?: string;
}

/** A refusal with an HTTP status. */
export interface ScriptedError {
  readonly status: number;
  readonly message?: string;
  readonly retryAfterMs?: number;
}

/** What an answer used; what is left out is none. */
export interface TokenCounts {
  readonly input?: number;
  readonly output?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
}

/** One thing the scripted model does while it answers, as script files spell it. */
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
// The longest time that setTimeout knows.
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

/** What each kind of step consists of, by the key that names the kind. */
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
  // Last, for it is also a part of other steps.
  delayMs: closed({ delayMs: milliseconds }, ['delayMs']),
};

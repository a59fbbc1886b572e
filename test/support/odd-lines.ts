import { commandNames, type Fields, fullParams, sampleParams } from './samples.ts';

/** One line of input as bytes, and whether exactly one response must follow. */
export interface OddLine {
  readonly bytes: Uint8Array;
  readonly isAnswered: boolean;
  /** The id that the response must carry, as JSON; undefined when there is none or none is promised. */
  readonly id?: string | undefined;
}

/** Numbers that are the same for the same seed. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** From 0 to below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  one<T>(values: readonly [T, ...T[]]): T {
    return values[this.below(values.length)] ?? values[0];
  }
}

const prompts = ['say hello', 'count to 50', 'think about it', 'list the files', 'fail', 'cut the stream', 'stall', ''];
const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', 'abort ', 'ABORT', '', '\u0000'];
const oddValues: [unknown, ...unknown[]] = [
  null,
  0,
  -1,
  1e300,
  '',
  'a"b\\c\n\u2028',
  true,
  [],
  {},
  [[]],
  { a: { b: 1 } },
];

/** An endless stream of lines that no sensible client would send, among some that it would. */
export function* oddLines(dice: Dice): Generator<OddLine> {
  const known: unknown[] = [];
  const kinds: [() => OddLine, ...(() => OddLine)[]] = [
    () => command(dice, known),
    () => command(dice, known),
    () => command(dice, known),
    () => prompt(dice, known),
    () => spoiled(dice, known),
    () => answered(JSON.stringify({ id: 'odd type', type: dice.one(names as [string]) }), 'odd type'),
    () => answered(JSON.stringify(dice.one(oddValues))),
    () => cut(dice),
    () => nested(dice),
    () => huge(dice),
    () => garbage(dice),
    () => frame(dice),
    () => ({ bytes: encode(dice.one(['', ' ', '\t', '\r', ' \t\r', '\uFEFF'])), isAnswered: false }),
  ];
  while (true) {
    const line = dice.one(kinds)();
    const ending = encode(dice.one(['\n', '\n', '\r\n']));
    yield { ...line, bytes: Buffer.concat([line.bytes, ending]) };
  }
}

const encode = (text: string) => new TextEncoder().encode(text);

const answered = (text: string, id?: unknown): OddLine => ({
  bytes: encode(text),
  isAnswered: true,
  id: id === undefined ? undefined : JSON.stringify(id),
});

function anyId(dice: Dice, known: unknown[]): Fields {
  const ids: [unknown, ...unknown[]] = [dice.below(1000), `"quoted" \\${dice.below(10)}`, { n: [dice.below(3)] }, null];
  const fresh = dice.one([...ids, dice.one(oddValues)]);
  known.push(fresh);
  return dice.one<Fields>([{}, { id: fresh }, { id: known[dice.below(known.length)] }]);
}

function command(dice: Dice, known: unknown[]): OddLine {
  const type = commandNames[dice.below(commandNames.length)] ?? 'abort';
  const id = anyId(dice, known);
  const params = dice.one([sampleParams(type), fullParams(type)]);
  const line = { ...params, ...(type === 'hello' ? { heartbeatMs: dice.one([0, 5, 1e12]) } : {}), ...id, type };
  return answered(JSON.stringify(line), id['id']);
}

function prompt(dice: Dice, known: unknown[]): OddLine {
  const type = dice.one(['prompt', 'steer', 'follow_up', 'abort_and_prompt']);
  const id = anyId(dice, known);
  const message = dice.one(prompts as [string]);
  return answered(
    JSON.stringify({ message, streamingBehavior: dice.one(['steer', 'followUp']), ...id, type }),
    id['id'],
  );
}

function spoiled(dice: Dice, known: unknown[]): OddLine {
  const type = commandNames[dice.below(commandNames.length)] ?? 'abort';
  const params = fullParams(type);
  const fields = ['more', ...Object.keys(params)] as [string];
  const id = anyId(dice, known);
  const line = { ...params, [dice.one(fields)]: dice.one(oddValues), ...id, type };
  return answered(JSON.stringify(line), id['id']);
}

/** The beginning of a line, too short to be JSON. */
function cut(dice: Dice): OddLine {
  const type = commandNames[dice.below(commandNames.length)] ?? 'abort';
  const whole = JSON.stringify({ type, ...fullParams(type), text: 'é€𝄞' });
  return answered(whole.slice(0, 1 + dice.below(whole.length - 1)));
}

function nested(dice: Dice): OddLine {
  const depth = dice.one([10, 999, 1001, 50_000]);
  const value = dice.one(['['.repeat(depth) + ']'.repeat(depth), '{"a":'.repeat(depth) + 1 + '}'.repeat(depth)]);
  const field = dice.one(['type', 'id', 'message', 'images', 'more']);
  return answered(dice.one([value, '['.repeat(depth), `{"${field}":${value},"type":"get_commands"}`]));
}

function huge(dice: Dice): OddLine {
  const text = dice.one(['x', 'é', '\\u2028']).repeat(100_000 + dice.below(500_000));
  return answered(
    dice.one([`"${text}"`, `{"type":"set_session_name","name":5,"more":"${text}"}`, `{"type":"${text}"}`]),
  );
}

function garbage(dice: Dice): OddLine {
  const bytes = Uint8Array.from({ length: 1 + dice.below(200) }, () => dice.below(256)).map((byte) =>
    byte === 10 ? 0 : byte,
  );
  const isBlank = bytes.every((byte) => byte === 32 || byte === 9 || byte === 13);
  return { bytes, isAnswered: !isBlank };
}

function frame(dice: Dice): OddLine {
  const type = dice.one(['extension_ui_response', 'host_tool_update', 'host_tool_result']);
  const field = dice.one(['id', 'value', 'partialResult', 'result', 'more']);
  const text = JSON.stringify({ type, id: 'nobody', [field]: dice.one(oddValues) });
  return { bytes: encode(text), isAnswered: false };
}

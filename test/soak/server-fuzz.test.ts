import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { newToken, OWNER, serveTau, type Target, type Visitor } from '../support/attack.ts';
import { Dice, type OddLine, oddLines } from '../support/odd-lines.ts';

const { SOAK, FUZZ_SEED } = process.env;
const seed = Number(FUZZ_SEED ?? (SOAK ? Math.floor(Math.random() * 2 ** 32) : 1));
const rounds = SOAK ? 300 : 12;
const LINES = 40;

/** How the server may end a connection of somebody who talks nonsense. */
const KNOWN_ENDS = new Set([1002, 1007, 1009, 1013, 4429]);

/** Somebody who sends odd lines, and comes again when sent away. */
class Fuzzer {
  readonly #target: Target;
  readonly #query: Record<string, string>;
  readonly #dice: Dice;
  readonly #lines: Generator<OddLine>;
  #visitor: Visitor | undefined;
  #fences = 0;

  constructor(target: Target, query: Record<string, string>, dice: Dice) {
    this.#target = target;
    this.#query = query;
    this.#dice = dice;
    this.#lines = oddLines(dice);
  }

  /** Sends a batch in frames of all kinds; settles when the server has dealt with it. */
  async attack(): Promise<void> {
    this.#visitor ??= await this.#target.visit(this.#query);
    const visitor = this.#visitor;
    for (let sent = 0; sent < LINES; sent++) this.#sendOne(visitor);
    const fence = `fence ${++this.#fences}`;
    visitor.send({ type: 'ping', id: fence });
    const answer = visitor.find(({ type, id }) => type === 'response' && id === fence);
    const ended = await Promise.race([visitor.ended, answer.catch(() => visitor.ended)]);
    if ('reason' in ended) {
      expect([...KNOWN_ENDS], JSON.stringify(ended)).toContain(ended.code);
      this.#visitor = undefined;
    }
  }

  #sendOne({ socket }: Visitor): void {
    const { bytes } = this.#lines.next().value as OddLine;
    const cut = this.#dice.below(bytes.length + 1);
    const binary = this.#dice.below(2) === 0;
    const ignore = () => {};
    const ways: [() => void, ...(() => void)[]] = [
      () => socket.send(bytes, { binary: true }, ignore),
      () => socket.send(bytes, { binary: true }, ignore),
      () => socket.send(bytes, { binary: false }, ignore),
      () => socket.send(Buffer.concat([bytes, bytes]), { binary }, ignore),
      () => {
        socket.send(bytes.subarray(0, cut), { binary: true, fin: false }, ignore);
        socket.send(bytes.subarray(cut), { binary: true, fin: true }, ignore);
      },
      () => socket.ping(bytes.subarray(0, 125), true, ignore),
      () => socket.pong(bytes.subarray(0, 125), true, ignore),
    ];
    this.#dice.one(ways)();
  }
}

/**
 * Bytes on a bare connection: something that was a request and frames once, with some of it spoiled. The head of one who
 * shows a token is left alone: many wrong ones would keep everybody out.
 */
async function assault(target: Target, dice: Dice): Promise<void> {
  const showsToken = dice.below(2) === 0;
  const head = [
    `GET /session${showsToken ? `?token=${OWNER}` : ''} HTTP/1.1`,
    `Host: 127.0.0.1:${target.port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
  ];
  const ping = Buffer.from([0x81, 0x8f, 0, 0, 0, 0, ...Buffer.from('{"type":"ping"}')]);
  const bytes = Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), ping, ping, ping, ping, ping]);
  const start = showsToken ? bytes.length - 5 * ping.length : 0;
  for (let count = dice.below(8); count >= 0; count--)
    bytes[start + dice.below(bytes.length - start)] = dice.below(256);
  const socket = target.dial(bytes.subarray(0, 1 + dice.below(bytes.length)));
  await Promise.race([
    new Promise((resolve) => socket.once('data', resolve)),
    new Promise((resolve) => socket.once('close', resolve)),
    target.get('/healthz'),
  ]);
  socket.destroy();
}

it(`[W76] whatever comes over one socket, the others work on, with FUZZ_SEED=${seed}`, {
  timeout: SOAK ? 1_800_000 : 60_000,
}, async () => {
  const dice = new Dice(seed);
  const target = await serveTau({ args: ['--max-sessions', '6'] });
  const { token } = await newToken(target.home, { scope: 'view' });
  const worker = await target.visit();
  const { sessionId } = await worker.place();
  const fuzzers = [new Fuzzer(target, { token, session: sessionId }, dice), new Fuzzer(target, {}, dice)];

  for (let round = 0; round < rounds; round++) {
    const word = `round${round}`;
    await Promise.all([
      ...fuzzers.map((fuzzer) => fuzzer.attack()),
      ...Array.from({ length: 5 }, () => assault(target, dice)),
      worker.run(`say ${word}`),
    ]);
    expect((await worker.ok({ type: 'get_last_assistant_text' })).text).toBe(word);
    expect((await target.get('/healthz')).status).toBe(200);
  }

  const { messages } = await worker.ok({ type: 'get_messages' });
  expect(messages).toHaveLength(2 * rounds);
  expect(await worker.ok({ type: 'get_state' })).toMatchObject({ sessionId, isStreaming: false });
  expect(target.stderr()).not.toMatch(/internal|Error|at .*:\d+/);
});

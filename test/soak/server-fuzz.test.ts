import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { type FuzzLine, fuzzLines, SeededRandom } from '../support/protocol/fuzz-lines.ts';
import {
  newToken,
  startTarget,
  TARGET_TOKEN,
  type Target,
  type TargetClient,
} from '../support/server/attack-target.ts';

const { SOAK, FUZZ_SEED } = process.env;
const seed = Number(FUZZ_SEED ?? (SOAK ? Math.floor(Math.random() * 2 ** 32) : 1));
const rounds = SOAK ? 300 : 12;
const LINES = 40;

// Close codes that the server may use on a client that sends malformed input.
const ALLOWED_CLOSE_CODES = new Set([1002, 1007, 1009, 1013, 4429]);

/** A client that sends fuzz lines and reconnects when the server closes its connection. */
class Fuzzer {
  readonly #target: Target;
  readonly #query: Record<string, string>;
  readonly #random: SeededRandom;
  readonly #lines: Generator<FuzzLine>;
  #client: TargetClient | undefined;
  #fences = 0;

  constructor(target: Target, query: Record<string, string>, random: SeededRandom) {
    this.#target = target;
    this.#query = query;
    this.#random = random;
    this.#lines = fuzzLines(random);
  }

  /** Sends a batch in frames of all kinds; settles when the server has handled it. */
  async attack(): Promise<void> {
    this.#client ??= await this.#target.connect(this.#query);
    const client = this.#client;
    for (let sent = 0; sent < LINES; sent++) this.#sendOne(client);
    const fence = `fence ${++this.#fences}`;
    client.send({ type: 'ping', id: fence });
    const response = client.find(({ type, id }) => type === 'response' && id === fence);
    const ended = await Promise.race([client.ended, response.catch(() => client.ended)]);
    if ('reason' in ended) {
      expect([...ALLOWED_CLOSE_CODES], JSON.stringify(ended)).toContain(ended.code);
      this.#client = undefined;
    }
  }

  #sendOne({ socket }: TargetClient): void {
    const { bytes } = this.#lines.next().value as FuzzLine;
    const cut = this.#random.below(bytes.length + 1);
    const binary = this.#random.below(2) === 0;
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
    this.#random.pick(ways)();
  }
}

/**
 * Sends an upgrade request and frames with random bytes replaced. A request with a token keeps its head intact: many
 * wrong tokens would lock out all clients of this address.
 */
async function sendMutatedUpgrade(target: Target, random: SeededRandom): Promise<void> {
  const showsToken = random.below(2) === 0;
  const head = [
    `GET /session${showsToken ? `?token=${TARGET_TOKEN}` : ''} HTTP/1.1`,
    `Host: 127.0.0.1:${target.port}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
  ];
  const ping = Buffer.from([0x81, 0x8f, 0, 0, 0, 0, ...Buffer.from('{"type":"ping"}')]);
  const bytes = Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), ping, ping, ping, ping, ping]);
  const start = showsToken ? bytes.length - 5 * ping.length : 0;
  for (let count = random.below(8); count >= 0; count--)
    bytes[start + random.below(bytes.length - start)] = random.below(256);
  const socket = target.openSocket(bytes.subarray(0, 1 + random.below(bytes.length)));
  await Promise.race([
    new Promise((resolve) => socket.once('data', resolve)),
    new Promise((resolve) => socket.once('close', resolve)),
    target.get('/healthz'),
  ]);
  socket.destroy();
}

it(`[W76] malformed input on one socket does not disturb other clients, with FUZZ_SEED=${seed}`, {
  timeout: SOAK ? 1_800_000 : 60_000,
}, async () => {
  const random = new SeededRandom(seed);
  const target = await startTarget({ args: ['--max-sessions', '6'] });
  const { token } = await newToken(target.home, { scope: 'view' });
  const worker = await target.connect();
  const { sessionId } = await worker.location();
  const fuzzers = [new Fuzzer(target, { token, session: sessionId }, random), new Fuzzer(target, {}, random)];

  for (let round = 0; round < rounds; round++) {
    const word = `round${round}`;
    await Promise.all([
      ...fuzzers.map((fuzzer) => fuzzer.attack()),
      ...Array.from({ length: 5 }, () => sendMutatedUpgrade(target, random)),
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

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { onTestFinished } from 'vitest';
import { type AwsKeys, signatureHeaders } from '../../../src/model/clouds/sigv4.ts';
import { anthropicApi } from './anthropic-messages.ts';
import type { ModelReply } from './provider-double.ts';

/** A response of Bedrock: frames, or a status with a body. */
export type BedrockResponse =
  | {
      readonly frames: readonly Buffer[];
      /** Bytes per write; by default one write. */
      readonly chunkBytes?: number;
    }
  | { readonly status: number; readonly message: string; readonly headers?: Record<string, string> };

export interface BedrockRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  readonly body: any;
}

/** Amazon Bedrock on a real socket: sends queued responses in order. */
export class BedrockDouble {
  readonly requests: BedrockRequest[] = [];
  readonly #responses: BedrockResponse[] = [];
  readonly #server = createServer((request, response) => void this.#serve(request, response));

  static async start(): Promise<BedrockDouble> {
    const double = new BedrockDouble();
    double.#server.listen(0, '127.0.0.1');
    await once(double.#server, 'listening');
    onTestFinished(() => {
      double.#server.close();
      double.#server.closeAllConnections();
    });
    return double;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  respondWith(...responses: readonly BedrockResponse[]): void {
    this.#responses.push(...responses);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const text = Buffer.concat(pieces).toString();
    this.requests.push({ path: request.url ?? '', headers: request.headers, text, body: JSON.parse(text) });
    const queued = this.#responses.shift() ?? { status: 400, message: 'No response is queued' };
    if ('status' in queued) {
      response.writeHead(queued.status, { 'content-type': 'application/json', ...queued.headers });
      response.end(JSON.stringify({ message: queued.message }));
      return;
    }
    response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
    const bytes = Buffer.concat(queued.frames);
    const size = queued.chunkBytes ?? bytes.length;
    for (let at = 0; at < bytes.length; at += size) {
      response.write(bytes.subarray(at, at + size));
      if (queued.chunkBytes !== undefined) await setImmediate();
    }
    response.end();
  }
}

function frame(headers: Record<string, string>, payload: string): Buffer {
  const encoded = Object.entries(headers).map(([name, value]) => {
    const length = Buffer.alloc(2);
    length.writeUInt16BE(Buffer.byteLength(value));
    return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([7]), length, Buffer.from(value)]);
  });
  const head = Buffer.concat([...encoded, odd]);
  const bytes = Buffer.alloc(12 + head.length + Buffer.byteLength(payload) + 4);
  bytes.writeUInt32BE(bytes.length, 0);
  bytes.writeUInt32BE(head.length, 4);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)), 8);
  head.copy(bytes, 12);
  bytes.write(payload, 12 + head.length);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, -4)), bytes.length - 4);
  return bytes;
}

// A header whose value is a date: readers must step over it.
const odd = Buffer.concat([Buffer.from([5]), Buffer.from(':when'), Buffer.from([8]), Buffer.alloc(8)]);

const eventFrame = (type: string, payload: object) =>
  frame(
    { ':message-type': 'event', ':event-type': type, ':content-type': 'application/json' },
    JSON.stringify(payload),
  );

/** An exception in mid-stream. */
export const exceptionFrame = (type: string, message: string): Buffer =>
  frame({ ':message-type': 'exception', ':exception-type': type }, JSON.stringify({ message }));

/** A response of Converse. */
export function converseFrames({ thinking, text, calls = [], usage }: ModelReply): Buffer[] {
  const block = (contentBlockIndex: number, start: object | undefined, deltas: readonly object[]) => [
    ...(start ? [eventFrame('contentBlockStart', { contentBlockIndex, start })] : []),
    ...deltas.map((delta) => eventFrame('contentBlockDelta', { contentBlockIndex, delta })),
    eventFrame('contentBlockStop', { contentBlockIndex }),
  ];
  const { input = 1, output = 1, cacheRead = 0, cacheWrite = 0 } = usage ?? {};
  return [
    eventFrame('messageStart', { role: 'assistant' }),
    ...(thinking === undefined
      ? []
      : block(0, undefined, [{ reasoningContent: { text: thinking } }, { reasoningContent: { signature: 'sealed' } }])),
    ...(text === undefined ? [] : block(1, undefined, [{ text }])),
    ...calls.flatMap(({ id: toolUseId, name, arguments: values }, index) =>
      block(index + 2, { toolUse: { toolUseId, name } }, [{ toolUse: { input: JSON.stringify(values) } }]),
    ),
    eventFrame('messageStop', { stopReason: calls.length > 0 ? 'tool_use' : 'end_turn' }),
    eventFrame('metadata', {
      usage: {
        inputTokens: input,
        outputTokens: output,
        cacheReadInputTokens: cacheRead,
        cacheWriteInputTokens: cacheWrite,
      },
    }),
  ];
}

/** A response of Claude by its own API. */
export const claudeFrames = (reply: ModelReply): Buffer[] =>
  anthropicApi
    .encode(reply)
    .map(({ data }) => eventFrame('chunk', { bytes: Buffer.from(data).toString('base64'), p: 'abc' }));

/** Whether the signature of a request is right for these keys, region and the bytes that arrived. */
export function isSigned({ path, headers, text }: BedrockRequest, keys: AwsKeys, region: string): boolean {
  const timestamp = String(headers['x-amz-date']);
  const date = new Date(timestamp.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  const names = /SignedHeaders=([^,]+)/.exec(String(headers.authorization))?.[1]?.split(';') ?? [];
  const added = ['host', 'x-amz-date', 'x-amz-security-token'];
  const signed = names.filter((name) => !added.includes(name)).map((name) => [name, String(headers[name])]);
  const { authorization } = signatureHeaders({
    method: 'POST',
    url: new URL(`http://${headers.host}${path}`),
    headers: Object.fromEntries(signed),
    body: text,
    keys,
    region,
    service: 'bedrock',
    date,
  });
  return authorization === headers.authorization && headers['x-amz-security-token'] === keys.sessionToken;
}

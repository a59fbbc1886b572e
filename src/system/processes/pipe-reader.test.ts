import { closeSync, writeSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { compile, exitOf, processes, temporaryFolder } from '../testing/script.ts';
import { openPipe } from './pipe.ts';
import { PipeReader } from './pipe-reader.ts';

const folder = temporaryFolder();
const start = processes();

describe('a reader of a pipe', () => {
  it('has received everything written so far after drain', async () => {
    const { read, write } = await openPipe();
    let received = '';
    const reader = new PipeReader(read, (bytes) => {
      received += bytes;
    });

    writeSync(write, 'first');
    reader.drain();
    const first = received;
    writeSync(write, ', second');
    closeSync(write);
    reader.drain();
    reader.drain();

    expect([first, received]).toEqual(['first', 'first, second']);
  });

  it('sends later bytes to its sink, and closes the sink at the end', async () => {
    const { read, write } = await openPipe();
    const received: string[] = [];
    const reader = new PipeReader(read, (bytes) => void received.push(`first ${bytes}`));
    writeSync(write, 'a');
    reader.drain();

    await new Promise<void>((close) => {
      reader.redirectTo({ append: (bytes) => void received.push(`heir ${bytes}`), close });
      writeSync(write, 'b');
      closeSync(write);
    });
    await new Promise<void>((close) => reader.redirectTo({ append: () => {}, close }));
    reader.drain();

    expect(received).toEqual(['first a', 'heir b']);
  });

  it('does not keep the process alive', async () => {
    const script = compile(
      folder,
      `import { openPipe } from './processes/pipe.ts';
       import { PipeReader } from './processes/pipe-reader.ts';
       new PipeReader((await openPipe()).read, () => {});`,
    );

    expect(await exitOf(start(process.execPath, [script]))).toBe(0);
  });
});

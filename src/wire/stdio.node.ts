import { takeStdout } from '../system/stdout/private-stdout.ts';
import { LineReader } from './json-lines.ts';
import type { Link } from './link.ts';

/** Makes a link of stdin and stdout. From here on no other code of the process can write to stdout. */
export function stdioLink(): Link {
  const stdout = takeStdout();
  const stdin = process.stdin;
  const reader = new LineReader();
  stdin.on('error', () => stdin.destroy());
  return {
    write: (text) => stdout.write(text),
    onDrain: (listener) => stdout.onDrain(listener),
    flush: () => stdout.flush(),
    onLine: (listener) => {
      stdin.on('data', (chunk: Buffer) => reader.push(chunk).forEach(listener));
      stdin.on('end', () => reader.end().forEach(listener));
    },
    onEnd: (listener) => void stdin.on('close', listener).on('end', listener),
    onClose: (listener) => stdout.onError(() => listener()),
    pause: () => void stdin.pause(),
    resume: () => void stdin.resume(),
    close: () => void stdin.destroy(),
  };
}

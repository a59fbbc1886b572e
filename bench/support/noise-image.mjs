import { crc32, deflateSync } from 'node:zlib';

const CHANNELS = 3;

/** A PNG of about this many bytes: noise, as large compressed as not. */
export function noisePng(bytes) {
  const side = Math.floor(Math.sqrt(bytes / CHANNELS));
  const row = side * CHANNELS + 1;
  const pixels = Buffer.alloc(row * side);
  let state = 1;
  for (let at = 0; at < pixels.length; at++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    // The first byte of a row names its filter: none.
    pixels[at] = at % row === 0 ? 0 : state >>> 24;
  }
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0]);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const data = deflateSync(pixels, { level: 0 });
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

function chunk(name, data) {
  const body = Buffer.concat([Buffer.from(name), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

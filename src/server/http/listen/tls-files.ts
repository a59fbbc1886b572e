import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { messageOf } from '../../../protocol/errors.ts';

/** A certificate chain and its key, as PEM. */
export interface Tls {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Reads a certificate and its key. Throws a sentence if one is missing or they do not match. */
export function readTlsFiles(paths: { readonly cert: string; readonly key: string }): Tls {
  const tls = { cert: read(paths.cert), key: read(paths.key) };
  try {
    createSecureContext(tls);
  } catch (error) {
    throw new Error(`${paths.cert} and ${paths.key} are no certificate and its key: ${messageOf(error)}`);
  }
  return tls;
}

function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Error(`cannot read ${path}: ${messageOf(error)}`);
  }
}

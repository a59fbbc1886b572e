import { createHash, randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;

/** 256 bits that nobody guesses, in letters that a URL and a cookie can carry. */
export const newSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url');

/** What is kept of a secret: its SHA-256, in hex. */
export const digestOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');

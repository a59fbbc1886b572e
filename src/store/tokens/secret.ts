import { createHash, randomBytes } from 'node:crypto';

const SECRET_BYTES = 32;

/** 256 random bits in characters that are safe in a URL and a cookie. */
export const newSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url');

/** The stored form of a secret: its SHA-256 in hex. */
export const digestOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');

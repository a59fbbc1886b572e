import { createHash } from 'node:crypto';

const accepted = /^[a-zA-Z0-9_-]{1,64}$/;
const KEPT = 47;
const DIGEST = 16;

/** The id rule for Anthropic: keeps an accepted id, and makes a unique one of any other. */
export function anthropicToolId(id: string): string {
  if (accepted.test(id)) return id;
  const digest = createHash('sha256').update(id).digest('hex').slice(0, DIGEST);
  return `${id.slice(0, KEPT).replaceAll(/[^a-zA-Z0-9_-]/g, '_')}_${digest}`;
}

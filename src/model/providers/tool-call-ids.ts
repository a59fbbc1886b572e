import { createHash } from 'node:crypto';
import type { ToolCallIdRule } from '../replay.ts';
import type { Quirks } from './completions/quirks.ts';

const accepted = /^[a-zA-Z0-9_-]{1,64}$/;
const KEPT = 47;
const DIGEST = 16;

/** The id rule for Anthropic: keeps an accepted id, and makes a unique one of any other. */
export function anthropicToolId(id: string): string {
  if (accepted.test(id)) return id;
  const digest = createHash('sha256').update(id).digest('hex').slice(0, DIGEST);
  return `${id.slice(0, KEPT).replaceAll(/[^a-zA-Z0-9_-]/g, '_')}_${digest}`;
}

const LONGEST_ID = 40;
const HASH_LENGTH = 9;

/** The id rule for chat completions; different ids stay different. */
export function completionsToolIds({ requiresMistralToolIds }: Quirks): ToolCallIdRule {
  if (requiresMistralToolIds) return hashed;
  const owners = new Map<string, string>();
  return (id) => {
    const short = shortened(id);
    const owner = owners.get(short) ?? id;
    const form = owner === id && short !== '' ? short : `${short.slice(0, LONGEST_ID - HASH_LENGTH - 1)}_${hashed(id)}`;
    owners.set(form, id);
    return form;
  };
}

// Ids of the Responses API contain an item id after a bar.
const shortened = (id: string) => (id.split('|')[0] ?? '').replaceAll(/[^\w-]/g, '_').slice(0, LONGEST_ID);

const hashed = (id: string) => createHash('sha256').update(id).digest('hex').slice(0, HASH_LENGTH);

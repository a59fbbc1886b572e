/** A part of a message that is more than a string. */
export type ContentPart =
  | { readonly type: 'text'; readonly text: string; readonly cache_control?: object }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } };

/** A message as this API has it; answers may hold fields that only their server knows. */
export interface ChatMessage {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  readonly content: string | null | readonly ContentPart[];
  readonly [field: string]: unknown;
}

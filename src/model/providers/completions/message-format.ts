/** A part of a message with more than text. */
export type ContentPart =
  | { readonly type: 'text'; readonly text: string; readonly cache_control?: object }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } };

/** A message in the form of the API; assistant messages may have fields of their server. */
export interface ChatMessage {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool';
  readonly content: string | null | readonly ContentPart[];
  readonly [field: string]: unknown;
}

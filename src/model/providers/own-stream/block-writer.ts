import { isObject, type JsonObject } from '../../../store/json-file.ts';
import type { Draft, Step } from '../../draft.ts';
import { isFilled, nonsense } from './foreign.ts';
import type { Kind } from './whole-block.ts';

/** Writes one block into a draft, be it told in pieces, as a whole, or both. */
export class BlockWriter {
  readonly kind: Kind;
  readonly #draft: Draft;
  #told = '';
  /** Whether the draft knows of the call. */
  #isCalled = false;

  constructor(kind: Kind, draft: Draft) {
    this.kind = kind;
    this.#draft = draft;
  }

  /** `whole`: what is known of the block already. */
  *start(whole: JsonObject): Generator<Step> {
    const { id, name } = whole;
    if (this.kind !== 'toolcall' || this.#isCalled || !isFilled(id) || !isFilled(name)) return;
    this.#isCalled = true;
    yield* this.#draft.toolCall({ id, name });
    if (this.#told !== '') yield* this.#draft.toolArguments(this.#told);
  }

  *add(delta: string): Generator<Step> {
    if (delta === '') return;
    this.#told += delta;
    if (this.kind === 'text') yield* this.#draft.text(delta);
    else if (this.kind === 'thinking') yield* this.#draft.thinking(delta);
    else if (this.#isCalled) yield* this.#draft.toolArguments(delta);
  }

  /** Closes the block, after it has said what the pieces did not. */
  *end(whole: JsonObject): Generator<Step> {
    if (this.kind === 'toolcall') yield* this.#endCall(whole);
    else yield* this.#endProse(this.kind, whole);
  }

  *#endProse(kind: 'text' | 'thinking', whole: JsonObject): Generator<Step> {
    const { [kind]: text, [`${kind}Signature`]: signature, redacted } = whole;
    const isHidden = this.#told === '' && (text === '' || redacted === true);
    if (isHidden) {
      if (kind === 'thinking' && isFilled(signature)) yield* this.#draft.redacted(signature);
      return;
    }
    if (isFilled(text) && text.startsWith(this.#told)) yield* this.add(text.slice(this.#told.length));
    if (this.#told === '') return;
    if (isFilled(signature)) this.#draft.sign(signature);
    yield* this.#draft.close();
  }

  *#endCall(call: JsonObject): Generator<Step> {
    const { arguments: values, thoughtSignature } = call;
    yield* this.start(call);
    if (!this.#isCalled) throw nonsense('a tool call without an id and a name');
    if (!isObject(values)) throw nonsense('a tool call whose arguments are no object');
    const written = JSON.stringify(values);
    if (this.#told === '') yield* this.add(written);
    if (isFilled(thoughtSignature)) this.#draft.sign(thoughtSignature);
    yield* this.#draft.close(JSON.parse(written));
  }
}

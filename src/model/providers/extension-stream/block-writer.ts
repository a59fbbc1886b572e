import { isObject, type JsonObject } from '../../../protocol/json.ts';
import type { Draft, DraftStep } from '../../draft.ts';
import { type BlockKind, isNonEmpty, malformedStream } from './event-fields.ts';

/** Writes one block into a draft, whether it arrives in pieces, whole or both. */
export class BlockWriter {
  readonly kind: BlockKind;
  readonly #draft: Draft;
  #written = '';
  /** Whether the draft has the call. */
  #hasStartedCall = false;

  constructor(kind: BlockKind, draft: Draft) {
    this.kind = kind;
    this.#draft = draft;
  }

  /** `whole` holds the known fields of the block. */
  *start(whole: JsonObject): Generator<DraftStep> {
    const { id, name } = whole;
    if (this.kind !== 'toolcall' || this.#hasStartedCall || !isNonEmpty(id) || !isNonEmpty(name)) return;
    this.#hasStartedCall = true;
    yield* this.#draft.toolCall({ id, name });
    if (this.#written !== '') yield* this.#draft.toolArguments(this.#written);
  }

  *add(delta: string): Generator<DraftStep> {
    if (delta === '') return;
    this.#written += delta;
    if (this.kind === 'text') yield* this.#draft.text(delta);
    else if (this.kind === 'thinking') yield* this.#draft.thinking(delta);
    else if (this.#hasStartedCall) yield* this.#draft.toolArguments(delta);
  }

  /** Closes the block after adding what the pieces lacked. */
  *end(whole: JsonObject): Generator<DraftStep> {
    if (this.kind === 'toolcall') yield* this.#endCall(whole);
    else yield* this.#endText(this.kind, whole);
  }

  *#endText(kind: 'text' | 'thinking', whole: JsonObject): Generator<DraftStep> {
    const { [kind]: text, [`${kind}Signature`]: signature, redacted } = whole;
    const isHidden = this.#written === '' && (text === '' || redacted === true);
    if (isHidden) {
      if (kind === 'thinking' && isNonEmpty(signature)) yield* this.#draft.redactedThinking(signature);
      return;
    }
    if (isNonEmpty(text) && text.startsWith(this.#written)) yield* this.add(text.slice(this.#written.length));
    if (this.#written === '') return;
    if (isNonEmpty(signature)) this.#draft.sign(signature);
    yield* this.#draft.close();
  }

  *#endCall(call: JsonObject): Generator<DraftStep> {
    const { arguments: values, thoughtSignature } = call;
    yield* this.start(call);
    if (!this.#hasStartedCall) throw malformedStream('a tool call without an id and a name');
    if (!isObject(values)) throw malformedStream('a tool call whose arguments are no object');
    const json = JSON.stringify(values);
    if (this.#written === '') yield* this.add(json);
    if (isNonEmpty(thoughtSignature)) this.#draft.sign(thoughtSignature);
    yield* this.#draft.close(JSON.parse(json));
  }
}

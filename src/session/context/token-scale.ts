import type { AgentMessage, Model } from '../../protocol/generated/vocabulary.ts';
import type { ModelName } from '../model-choice.ts';
import { estimateContext, isMeasured, measuredSince, requestTokens } from './context-usage.ts';

// An estimated token is four bytes, and no tokenizer makes more than one token of a byte.
const MAX_SLOPE = 4;
// Smaller differences between two requests are noise.
const MIN_STEP = 200;
// A rejected request is taken to exceed the window by this factor, so that the next one is clearly smaller.
const OVERFLOW_FACTOR = 4 / 3;

/** A request as estimated, and as its provider counted it. */
export interface RequestSize {
  readonly model: ModelName;
  readonly estimated: number;
  readonly reported: number;
}

interface Line {
  readonly latest: RequestSize;
  /** The request that `slope` was measured from. */
  readonly from: RequestSize;
  /** Counted tokens for each estimated one. */
  readonly slope: number;
  /** Whether it only follows from a rejected request. */
  readonly isGuess: boolean;
}

/**
 * Converts estimates of requests to what the provider counts: a line through the latest reported requests, which allows
 * for another tokenizer and for text that the provider adds. It only ever raises an estimate.
 */
export class TokenScale {
  readonly #stored: () => RequestSize | undefined;
  #line: Line | undefined;
  /** The session file is read once: it may hold no usage at all. */
  #isStoredRead = false;

  /** `stored` returns a request of the session file, for the time before the first response. */
  constructor(stored: () => RequestSize | undefined) {
    this.#stored = stored;
  }

  /** The tokens that the provider is expected to count for a request of this estimate. */
  tokens(estimate: number, model: ModelName): number {
    const line = this.#lineFor(model);
    if (!line) return estimate;
    return Math.max(estimate, Math.ceil(line.latest.reported + line.slope * (estimate - line.latest.estimated)));
  }

  /** Like `tokens`, but by reported usage alone: a rejected request does not count. */
  reportedTokens(estimate: number, model: ModelName): number {
    return this.#lineFor(model)?.isGuess ? estimate : this.tokens(estimate, model);
  }

  /** The largest estimate of a request for which the provider is expected to count at most this many tokens. */
  estimateFor(tokens: number, model: ModelName): number {
    const line = this.#lineFor(model);
    if (!line) return tokens;
    return Math.min(tokens, Math.floor(line.latest.estimated + (tokens - line.latest.reported) / line.slope));
  }

  /** Counted tokens for each estimated one, between 1 and 4. */
  slope(model: ModelName): number {
    return this.#lineFor(model)?.slope ?? 1;
  }

  /** Adds a request that the provider has answered. */
  record(size: RequestSize): void {
    if (!isValid(size)) return;
    const line = this.#lineFor(size.model);
    if (!line || line.isGuess) this.#line = firstLine(size);
    else this.#line = continued(line, size);
  }

  /** Adds a request that the provider has rejected because it exceeds the window. */
  recordOverflow(estimated: number, model: Model): void {
    if (model.contextWindow <= 0 || estimated <= 0) return;
    const reported = Math.max(model.contextWindow, this.tokens(estimated, model)) * OVERFLOW_FACTOR;
    const size = { model, estimated, reported };
    this.#line = { latest: size, from: size, slope: clampSlope(reported / estimated), isGuess: true };
  }

  #lineFor(model: ModelName): Line | undefined {
    if (!this.#line && !this.#isStoredRead) {
      const stored = this.#stored();
      this.#isStoredRead = true;
      if (stored && isValid(stored)) this.#line = firstLine(stored);
    }
    return this.#line && isSameModel(this.#line.latest.model, model) ? this.#line : undefined;
  }
}

// Some providers report nothing, and session files may hold malformed usage.
const isValid = ({ estimated, reported }: RequestSize): boolean => reported > 0 && estimated > 0;

function firstLine(size: RequestSize): Line {
  const ratio = size.reported / size.estimated;
  // No tokenizer explains a larger ratio: the provider adds text of its own.
  return { latest: size, from: size, slope: ratio > MAX_SLOPE ? 1 : clampSlope(ratio), isGuess: false };
}

function continued({ from, slope }: Line, size: RequestSize): Line {
  const step = size.estimated - from.estimated;
  if (Math.abs(step) < MIN_STEP) return { latest: size, from, slope, isGuess: false };
  return { latest: size, from: size, slope: clampSlope((size.reported - from.reported) / step), isGuess: false };
}

const clampSlope = (slope: number): number => Math.min(MAX_SLOPE, Math.max(1, slope));

const isSameModel = (a: ModelName, b: ModelName) => a.provider === b.provider && a.id === b.id;

/** The latest request of a conversation whose usage is stored; undefined after a compaction. */
export function latestRequest(messages: readonly AgentMessage[], overhead: () => number): RequestSize | undefined {
  const since = measuredSince(messages);
  const at = messages.findLastIndex((message) => isMeasured(message) && message.timestamp >= since);
  const response = messages[at];
  if (response?.role !== 'assistant') return undefined;
  return {
    model: { provider: response.provider, id: response.model },
    estimated: overhead() + estimateContext(messages.slice(0, at)),
    reported: requestTokens(response.usage),
  };
}

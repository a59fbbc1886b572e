interface RandomSource {
  readonly randomUUID?: () => string;
  readonly getRandomValues: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array;
}

/** Returns a random UUID, also on pages without TLS, where browsers hide `crypto.randomUUID`. */
export function randomUuid(source: RandomSource = crypto): string {
  if (source.randomUUID) return source.randomUUID();
  const bytes = source.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

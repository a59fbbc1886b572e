// Shorter values are not secret by themselves and occur in ordinary words.
const MIN_LENGTH = 6;

/** Replaces secrets in a text: whole values, and header values without their scheme. */
export function redact(text: string, values: Iterable<string>): string {
  const secrets = [...values]
    .flatMap((value) => [value, value.slice(value.indexOf(' ') + 1)])
    .filter((value) => value.trim().length >= MIN_LENGTH)
    .sort((a, b) => b.length - a.length);
  return secrets.reduce((redacted, secret) => redacted.replaceAll(secret, '…'), text);
}

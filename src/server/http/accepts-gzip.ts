/** Whether an `Accept-Encoding` header accepts gzip, by name or by a star. */
export function acceptsGzip(header = ''): boolean {
  const weights = new Map(header.toLowerCase().split(',').map(parseCoding));
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0;
}

function parseCoding(part: string): [string, number] {
  const [coding = '', ...parameters] = part.split(';').map((word) => word.trim());
  const weight = parameters.find((word) => word.startsWith('q='))?.slice(2);
  return [coding, weight === undefined ? 1 : Number(weight)];
}

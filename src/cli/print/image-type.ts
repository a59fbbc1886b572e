/** How the images begin that models can see. */
const beginnings: readonly (readonly [beginning: RegExp, mimeType: string])[] = [
  [/^\x89PNG\r\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF.{4}WEBP/s, 'image/webp'],
];

/** The type of the image that these bytes are; undefined when they are none. */
export function imageType(bytes: Buffer): string | undefined {
  const start = bytes.toString('latin1', 0, 16);
  return beginnings.find(([beginning]) => beginning.test(start))?.[1];
}

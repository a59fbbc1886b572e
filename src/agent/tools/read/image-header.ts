/** Image types that are detected by their first bytes. */
export type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | 'image/bmp';

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Detects the image type from the first bytes of a file. */
export function imageTypeOf(bytes: Buffer): ImageType | undefined {
  const ascii = (from: number, to: number) => bytes.toString('latin1', from, to);
  if (ascii(0, 8) === '\x89PNG\r\n\x1A\n' && ascii(12, 16) === 'IHDR') return 'image/png';
  if (ascii(0, 3) === '\xFF\xD8\xFF') return 'image/jpeg';
  if (ascii(0, 6) === 'GIF87a' || ascii(0, 6) === 'GIF89a') return 'image/gif';
  if (ascii(0, 4) === 'RIFF' && ascii(8, 12) === 'WEBP') return 'image/webp';
  if (ascii(0, 2) === 'BM' && bytes.length >= 30 && BITMAP_HEADERS.has(bytes.readUInt32LE(14))) return 'image/bmp';
  return undefined;
}

// Valid lengths of bitmap headers.
const BITMAP_HEADERS = new Set([40, 52, 56, 108, 124]);

/** The size in the image's header; undefined if the header is incomplete. */
export function imageSizeOf(bytes: Buffer, type: ImageType): ImageSize | undefined {
  try {
    return sizeReaders[type](bytes);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

// Each throws a RangeError if it reads beyond the end.
const sizeReaders: Readonly<Record<ImageType, (bytes: Buffer) => ImageSize | undefined>> = {
  'image/png': (bytes) => ({ width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }),
  'image/jpeg': jpegSize,
  'image/gif': (bytes) => ({ width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }),
  'image/webp': webpSize,
  'image/bmp': (bytes) => ({ width: bytes.readInt32LE(18), height: Math.abs(bytes.readInt32LE(22)) }),
};

/** Skips segments until the first frame. */
function jpegSize(bytes: Buffer): ImageSize | undefined {
  for (let at = 2; bytes.readUInt8(at) === 0xff; ) {
    const marker = bytes.readUInt8(at + 1);
    if (marker === 0xff) at++;
    else if (isFrame(marker)) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    else at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
}

/** Markers from C0 to CF start a frame, except three that are tables. */
const isFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

function webpSize(bytes: Buffer): ImageSize | undefined {
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return undefined;
  }
}

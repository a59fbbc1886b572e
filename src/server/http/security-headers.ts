const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "manifest-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
];

/** What every answer carries, whatever it is. An answer may replace some of them. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy': POLICY.join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
  'Cache-Control': 'no-store',
};

const HSTS = 'max-age=31536000';

/** Tells browsers to come encrypted from now on. It would hold for every port, so that nothing is said of this machine's own name. */
export const strictTransport = (hostname: string): Readonly<Record<string, string>> =>
  /(^|\.)localhost$/i.test(hostname) ? {} : { 'Strict-Transport-Security': HSTS };

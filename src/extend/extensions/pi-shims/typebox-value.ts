/** `typebox/value`. */
export * from 'typebox/value';

const plainText = (text: unknown) => String(text ?? '');

// A terminal theme without colours.
export const plainTheme = {
  name: 'plain',
  fg: (_color: string, text: unknown) => plainText(text),
  bg: (_color: string, text: unknown) => plainText(text),
  bold: plainText,
  dim: plainText,
  italic: plainText,
  underline: plainText,
  inverse: plainText,
  strikethrough: plainText,
  getFgAnsi: () => '',
  getBgAnsi: () => '',
  getColorMode: () => 'truecolor',
  getThinkingBorderColor: () => plainText,
  getBashModeBorderColor: () => plainText,
};

const plain = (text: string): string => text;

/** A theme without colours: it returns every text as it is. Programs subclass it. */
export class PlainTheme {
  readonly name: string | undefined = undefined;

  style(text: string): string {
    return text;
  }

  fg(_color: string, text: string): string {
    return text;
  }

  bg(_color: string, text: string): string {
    return text;
  }

  bold(text: string): string {
    return text;
  }

  italic(text: string): string {
    return text;
  }

  underline(text: string): string {
    return text;
  }

  inverse(text: string): string {
    return text;
  }

  strikethrough(text: string): string {
    return text;
  }

  getFgAnsi(_color: string): string {
    return '';
  }

  getBgAnsi(_color: string): string {
    return '';
  }

  getColorMode(): string {
    return 'none';
  }

  getThinkingBorderColor(_level: string): (text: string) => string {
    return plain;
  }

  getBashModeBorderColor(): (text: string) => string {
    return plain;
  }
}

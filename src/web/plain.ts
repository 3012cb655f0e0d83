/** Characters that end a line, or that change how text is shown. */
const CONTROLS = /[\p{Cc}\p{Cf}\u2028\u2029]+/gu

/** Text as one line without control characters, for logs and for text from others. */
export function plain(text: string, instead = ''): string {
  return text.replace(CONTROLS, instead)
}

/** What ends a line, or is shown as something else than it is. */
const CONTROLS = /[\p{Cc}\p{Cf}\u2028\u2029]+/gu

/** Text as one line that is what it looks like, for logs and for what others wrote. */
export function plain(text: string, instead = ''): string {
  return text.replace(CONTROLS, instead)
}

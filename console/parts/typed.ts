/** What was typed into a form. */

/** The text of a field, without space at its ends. */
export function textIn(fields: FormData, name: string): string {
  return String(fields.get(name) ?? '').trim()
}

/** The texts of a field, parted by the sign. */
export function textsIn(fields: FormData, name: string, sign: string | RegExp): string[] {
  return textIn(fields, name)
    .split(sign)
    .map(each => each.trim())
    .filter(Boolean)
}

/** The words of a field, with spaces or commas between them. */
export function wordsIn(fields: FormData, name: string): string[] {
  return textsIn(fields, name, /[\s,]+/)
}

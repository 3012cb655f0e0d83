/**
 * What it means that a text contains another one. Every store finds documents by this, whatever it has as an index.
 *
 * @module
 */

/** The most characters of a document's text that count. */
export const MAX_TEXT = 4096

/**
 * A text as it is compared: in lower case. Stores cannot hold halves of characters and U+0000, so each of them counts as U+FFFD.
 */
export function folded(text: string): string {
  return wellFormed(text).replaceAll('\0', '\ufffd').toLowerCase()
}

/** The text of a document as it is compared. Undefined if it has none. */
export function foldedText(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : folded(text.slice(0, MAX_TEXT))
}

/** Makes the function that says whether a folded text contains a term. Without a term, all do. */
export function containing(term: string | undefined): (text: string | undefined) => boolean {
  if (term === undefined || term === '') return () => true
  const wanted = folded(term)
  return text => text?.includes(wanted) === true
}

function wellFormed(text: string & { toWellFormed?(): string }): string {
  return text.toWellFormed?.() ?? text
}

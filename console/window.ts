/** Which rows of a long list are drawn. */

/** Height of a row, in CSS pixels: as high as a target for a finger. */
export const ROW = 44

/** Rows that are drawn beyond what is seen, on either side. */
const BEYOND = 8

/** The rows from `from` to before `to`: those in a box of that height that has been scrolled so far, and some more. */
export function windowOf(
  { top, height }: { readonly top: number; readonly height: number },
  count: number,
): { readonly from: number; readonly to: number } {
  const within = (row: number) => Math.min(count, Math.max(0, row))
  return {
    from: within(Math.floor(top / ROW) - BEYOND),
    to: within(Math.ceil((top + height) / ROW) + BEYOND),
  }
}

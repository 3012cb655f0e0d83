/** Computes which rows of a long list are rendered. */

/** The height of a row in CSS pixels: a comfortable touch target. */
export const ROW = 44

/** Rows that are rendered beyond the visible ones, on either side. */
const BEYOND = 8

/** The rows from `from` to before `to`: those visible in a box of that height and scroll position, and some more. */
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

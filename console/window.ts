/** Computes which rows of a long list are rendered. */
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'

/** Rows that are rendered beyond the visible ones, on either side. */
const BEYOND = 8

/** The rows of a list from `from` to before `to`. */
export interface Rows {
  readonly from: number
  readonly to: number
}

/** The rows that are visible in a box of that height and scroll position, and some more. */
export function windowOf(
  { top, height }: { readonly top: number; readonly height: number },
  count: number,
  row: number,
): Rows {
  const within = (index: number) => Math.min(count, Math.max(0, index))
  return {
    from: within(Math.floor(top / row) - BEYOND),
    to: within(Math.ceil((top + height) / row) + BEYOND),
  }
}

/** The height of a row in CSS pixels. Rows are higher where fingers touch them. */
export function rowHeight(name: '--row' | '--bar'): number {
  return Number.parseFloat(getComputedStyle(document.documentElement).getPropertyValue(name))
}

/** Which of the rows below the top of an element are rendered, whatever scrolls it. */
export function useWindow(list: RefObject<HTMLElement | null>, count: number, row: number): Rows {
  const [rows, setRows] = useState<Rows>({ from: 0, to: Math.min(count, 60) })
  const look = () => {
    // The browser may scroll once more after the list is removed.
    if (list.current === null) return
    const top = -list.current.getBoundingClientRect().top
    const next = windowOf({ top, height: innerHeight }, count, row)
    setRows(before => (before.from === next.from && before.to === next.to ? before : next))
  }
  useLayoutEffect(look)
  useEffect(() => {
    const controller = new AbortController()
    const { signal } = controller
    // Scrolling does not bubble, but it can be captured.
    addEventListener('scroll', look, { capture: true, passive: true, signal })
    addEventListener('resize', look, { signal })
    return () => controller.abort()
  }, [count, row])
  return { from: Math.min(rows.from, count), to: Math.min(Math.max(rows.to, rows.from), count) }
}

import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { rowHeight, windowOf } from '../window.ts'

/** A long list of buttons. One of them is chosen, or none. */
export function ChoiceOfRows({
  row,
  chosen,
  choose,
  ...list
}: Parameters<typeof Rows>[0] & {
  chosen: number | undefined
  choose: (index: number | undefined) => void
}) {
  return (
    <Rows
      {...list}
      row={index => (
        <button
          type="button"
          class="row"
          aria-pressed={index === chosen}
          onClick={() => choose(index === chosen ? undefined : index)}
        >
          {row(index)}
        </button>
      )}
    />
  )
}

/** A long list in a scrolling box. Only visible rows are rendered. Each has the height of a row. */
function Rows({
  label,
  count,
  row,
}: {
  label: string
  count: number
  row: (index: number) => ComponentChildren
}) {
  const box = useRef<HTMLElement>(null)
  const list = useRef<HTMLOListElement>(null)
  const [seen, setSeen] = useState({ top: 0, height: 0 })
  const height = rowHeight('--row')
  const { from, to } = windowOf(seen, count, height)
  const look = () => {
    // The browser may report a size once more after the box is removed.
    if (box.current === null) return
    const { scrollTop: top, clientHeight: height } = box.current
    setSeen(before => (before.top === top && before.height === height ? before : { top, height }))
  }
  useLayoutEffect(() => {
    const { style } = list.current!
    style.paddingTop = `${from * height}px`
    style.paddingBottom = `${(count - to) * height}px`
    look()
  })
  useEffect(() => {
    const observer = new ResizeObserver(look)
    observer.observe(box.current!)
    return () => observer.disconnect()
  }, [])
  return (
    // A scrolling box is reached with the keyboard. Any other is not in the tab order.
    <section
      ref={box}
      class="rows"
      aria-label={label}
      tabIndex={count * height > seen.height ? 0 : undefined}
      onScroll={look}
    >
      <ol ref={list}>
        {Array.from({ length: to - from }, (_, offset) => from + offset).map(index => (
          <li key={index} aria-setsize={count} aria-posinset={index + 1}>
            {row(index)}
          </li>
        ))}
      </ol>
    </section>
  )
}

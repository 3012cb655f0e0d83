import { useState } from 'preact/hooks'
import { number, visible } from '../text.ts'
import { CopyButton } from './copy-button.tsx'

/** Most members of an object that are shown at first, and most characters of a text. */
const MEMBERS = 50
const SHORT = 500

/** A value as a tree: objects and lists open and close. What is closed is not in the page. */
export function JsonTree({ value, label }: { value: unknown; label: string }) {
  return (
    <figure class="tree">
      <Node value={value} depth={0} />
      <figcaption>
        <CopyButton text={JSON.stringify(value, null, 2) ?? ''} label={label} />
      </figcaption>
    </figure>
  )
}

function Node({ value, depth }: { value: unknown; depth: number }) {
  const [most, setMost] = useState(MEMBERS)
  if (typeof value !== 'object' || value === null) return <Leaf value={value} />
  const all = Object.entries(value)
  const isList = Array.isArray(value)
  if (all.length === 0) return <code>{isList ? '[]' : '{}'}</code>
  return (
    <ul>
      {all.slice(0, most).map(([name, member]) => (
        <li key={name}>
          <Member name={name} value={member} depth={depth} isIndex={isList} />
        </li>
      ))}
      {all.length > most && (
        <li>
          <button type="button" class="quiet" onClick={() => setMost(most * 10)}>
            {number(all.length - most)} more
          </button>
        </li>
      )}
    </ul>
  )
}

function Member({
  name,
  value,
  depth,
  isIndex,
}: {
  name: string
  value: unknown
  depth: number
  isIndex: boolean
}) {
  const [isOpen, setOpen] = useState(depth < 2)
  const size = typeof value === 'object' && value !== null ? Object.keys(value).length : 0
  const title = <span class={isIndex ? 'soft' : 'name'}>{visible(name)}</span>
  if (size === 0)
    return (
      <>
        {title} <Leaf value={value} />
      </>
    )
  return (
    <details open={isOpen} onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>
        {title} <span class="soft">{number(size)}</span>
      </summary>
      {isOpen && <Node value={value} depth={depth + 1} />}
    </details>
  )
}

function Leaf({ value }: { value: unknown }) {
  const [isWhole, setWhole] = useState(false)
  if (typeof value !== 'string') return <code>{JSON.stringify(value)}</code>
  const isLong = value.length > SHORT && !isWhole
  return (
    <>
      <span class="plain">{visible(isLong ? value.slice(0, SHORT) : value)}</span>
      {isLong && (
        <button type="button" class="quiet" onClick={() => setWhole(true)}>
          Show all {number(value.length)} characters
        </button>
      )}
    </>
  )
}

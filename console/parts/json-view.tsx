import { useState } from 'preact/hooks'
import { number, visible } from '../text.ts'
import { CopyButton } from './copy-button.tsx'

/** Most characters of a value that are shown at first. */
const SHORT = 2000

/** JSON as text, with invisible characters made visible. */
export function JsonView({ value, label }: { value: unknown; label: string }) {
  const [isWhole, setWhole] = useState(false)
  const text = typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? 'undefined')
  const shown = visible(isWhole ? text : text.slice(0, SHORT))
  return (
    <figure class="json">
      <pre>{shown}</pre>
      <figcaption>
        {!isWhole && text.length > SHORT && (
          <button type="button" onClick={() => setWhole(true)}>
            Show all {number(text.length)} characters
          </button>
        )}
        <CopyButton text={text} label={label} />
      </figcaption>
    </figure>
  )
}

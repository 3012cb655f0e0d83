import { useRef } from 'preact/hooks'
import { useKey } from '../shell/press.ts'

/** Milliseconds after the last key before a search begins. */
const PAUSE_MS = 300

/** A field that searches while somebody types. `/` goes to it. */
export function SearchField({
  value,
  label,
  placeholder,
  onSearch,
}: {
  /** What is searched for now. */
  value: string
  label: string
  placeholder: string
  /** Gets another text than `value`, without white space at its ends. Empty: no search. */
  onSearch: (text: string) => void
}) {
  const field = useRef<HTMLInputElement>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const search = (text: string) => {
    clearTimeout(timer.current)
    if (text.trim() !== value) onSearch(text.trim())
  }
  useKey('/', () => field.current?.focus())
  return (
    <form
      class="search"
      onSubmit={event => {
        event.preventDefault()
        search(field.current?.value ?? '')
      }}
    >
      <input
        ref={field}
        key={value === '' ? 'none' : 'some'}
        type="search"
        aria-label={label}
        placeholder={placeholder}
        maxLength={200}
        defaultValue={value}
        onInput={({ currentTarget }) => {
          clearTimeout(timer.current)
          timer.current = setTimeout(() => search(currentTarget.value), PAUSE_MS)
        }}
      />
      <kbd>/</kbd>
    </form>
  )
}

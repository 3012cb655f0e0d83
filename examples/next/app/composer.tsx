import { type FormEvent, type KeyboardEvent, useRef, useState } from 'react'

interface Props {
  readonly isBusy: boolean
  readonly onSend: (message: { readonly text: string; readonly files: FileList }) => void
  readonly onStop: () => void
}

/** Where a message is written, with its files. Enter sends it, Shift and Enter begin a line. */
export function Composer({ isBusy, onSend, onStop }: Props) {
  const form = useRef<HTMLFormElement>(null)
  const files = useRef<HTMLInputElement>(null)
  const [names, setNames] = useState<readonly string[]>([])

  function send(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault()
    const text = String(new FormData(event.currentTarget).get('text'))
    const chosen = files.current?.files
    if (isBusy || !chosen || (text.trim() === '' && chosen.length === 0)) return
    onSend({ text, files: chosen })
    event.currentTarget.reset()
    setNames([])
  }

  function onKey(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    form.current?.requestSubmit()
  }

  return (
    <form className="composer" ref={form} onSubmit={send}>
      {names.length > 0 && (
        <p className="files" role="status">
          {names.join(', ')}{' '}
          <button
            type="button"
            onClick={() => {
              if (files.current) files.current.value = ''
              setNames([])
            }}
          >
            Remove
          </button>
        </p>
      )}
      <label className="attach" title="Attach files">
        <span aria-hidden="true">+</span>
        <input
          ref={files}
          type="file"
          multiple
          aria-label="Attach files"
          onChange={event => setNames(Array.from(event.target.files ?? [], ({ name }) => name))}
        />
      </label>
      <textarea name="text" aria-label="Message" placeholder="Message" rows={2} onKeyDown={onKey} />
      {isBusy ? (
        <button type="button" onClick={onStop}>
          Stop
        </button>
      ) : (
        <button type="submit">Send</button>
      )}
    </form>
  )
}

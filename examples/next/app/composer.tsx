import { type FormEvent, type KeyboardEvent, useRef, useState } from 'react'

interface Props {
  readonly isBusy: boolean
  readonly onSend: (message: { readonly text: string; readonly files: FileList }) => void
  /** Sends a message while an answer is at work: it waits, or reaches that answer. */
  readonly onMore: (text: string, concurrency: 'queue' | 'steer') => void
  readonly onStop: () => void
}

/** Where a message is written, with its files. Enter sends it, Shift and Enter begin a line. */
export function Composer({ isBusy, onSend, onMore, onStop }: Props) {
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

  /** Files go with a message of their own. */
  function more(concurrency: 'queue' | 'steer'): void {
    const field = form.current?.elements.namedItem('text') as HTMLTextAreaElement
    if (field.value.trim() === '') return
    onMore(field.value, concurrency)
    field.value = ''
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
        <>
          <button type="button" title="It waits for its turn" onClick={() => more('queue')}>
            Queue
          </button>
          <button type="button" title="It reaches the answer, if that takes it" onClick={() => more('steer')}>
            Send now
          </button>
          <button type="button" onClick={onStop}>
            Stop
          </button>
        </>
      ) : (
        <button type="submit">Send</button>
      )}
    </form>
  )
}

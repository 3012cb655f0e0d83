import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { useKey } from './press.ts'

const isOpen = signal(false)

/** Shows the keys of this page. */
export function openHelp(): void {
  isOpen.value = true
}

const KEYS: readonly (readonly [key: string, what: string])[] = [
  ['Ctrl K', 'Find a run, a session, an agent or a screen'],
  ['/', 'Search the list of runs'],
  ['↑ ↓', 'Go along a list, or along what was found'],
  ['Enter', 'Open it; in a chat, send the message'],
  ['Shift Enter', 'A new line in a message'],
  ['Esc', 'Close a dialog; in a chat, stop the answer'],
  ['?', 'Show this'],
]

/** The keys of this page. `?` opens it. */
export function Help() {
  const dialog = useRef<HTMLDialogElement>(null)
  useKey('?', openHelp)
  useEffect(() => {
    if (isOpen.value) dialog.current?.showModal()
  }, [isOpen.value])
  const close = () => {
    isOpen.value = false
    dialog.current?.close()
  }
  return (
    <dialog ref={dialog} class="help" aria-label="Keys" onClose={close}>
      <h2>Keys</h2>
      <dl>
        {KEYS.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p class="actions">
        <button type="button" onClick={close}>
          Close
        </button>
      </p>
    </dialog>
  )
}

import { signal } from '@preact/signals'
import { Modal } from '../parts/modal.tsx'
import { KeySwitch } from './key-switch.tsx'
import { useKey } from './press.ts'

const isOpen = signal(false)

/** Shows the keyboard shortcuts. */
export function openHelp(): void {
  isOpen.value = true
}

const KEYS: readonly (readonly [key: string, what: string])[] = [
  ['Ctrl K', 'Find a run, a session, an agent or a screen'],
  ['/', 'Search the list of runs or sessions'],
  ['↑ ↓', 'Move in a list, or in what was found'],
  ['J K', 'Go to the next or the previous approval'],
  ['A D', 'Approve it, or deny it with a reason'],
  ['X', 'Choose it, to decide several at once'],
  ['Enter', 'Open it; in a chat, send the message'],
  ['Shift Enter', 'A new line in a message'],
  ['Esc', 'Close a dialog; in a chat, stop the answer'],
  ['?', 'Show these shortcuts'],
]

/** The keys of this page. `?` opens it. */
export function Help() {
  useKey('?', openHelp)
  return (
    <Modal isOpen={isOpen} label="Keyboard shortcuts" kind="help">
      <h2>Keyboard shortcuts</h2>
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
      <KeySwitch />
      <p class="actions">
        <button type="button" onClick={() => (isOpen.value = false)}>
          Close
        </button>
      </p>
    </Modal>
  )
}

import { signal } from '@preact/signals'
import { useEffect, useMemo, useState } from 'preact/hooks'
import { Modal } from '../parts/modal.tsx'
import { isLoggedIn, logOut, standing } from '../service.ts'
import { visible } from '../text.ts'
import { openHelp } from './help.tsx'
import { Found, namedBy, type Thing } from './things.ts'

const isOpen = signal(false)

/** Opens the palette. */
export function openFinder(): void {
  isOpen.value = true
}

/** The roles of a field that chooses from a list of its own, in which `chosen` is marked. The types know `list` alone. */
function combobox(count: number, chosen: number): object {
  const marked = count > 0 && { 'aria-activedescendant': `found-${chosen}` }
  return {
    type: 'text',
    role: 'combobox',
    'aria-expanded': count > 0,
    'aria-controls': 'found',
    'aria-autocomplete': 'list',
    ...marked,
  }
}

/** What one can do anywhere. */
function acts(): readonly Thing[] {
  const logIn = () => {
    standing.value = { is: 'asking', isOptional: true }
  }
  return [
    { title: 'Keyboard shortcuts', what: 'help', act: openHelp },
    isLoggedIn.value
      ? { title: 'Log out', what: 'account', act: logOut }
      : { title: 'Log in', what: 'account', act: logIn },
  ]
}

/** Finds a screen, an agent, a run, a session or something to do. `Ctrl K` opens it. */
export function Finder() {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'k') return
      event.preventDefault()
      openFinder()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
  return (
    <Modal isOpen={isOpen} label="Find" kind="finder">
      <Finding />
    </Modal>
  )
}

function Finding() {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const found = useMemo(() => new Found(), [])
  useEffect(() => () => found.ask(''), [])
  const write = (value: string) => {
    setText(value)
    setAt(0)
    found.ask(value.trim())
  }
  const things = [...namedBy(text.trim(), acts()), ...found.things.value]
  const chosen = Math.min(at, things.length - 1)
  const open = (thing: Thing | undefined) => {
    if (thing === undefined) return
    isOpen.value = false
    if (thing.link !== undefined) location.hash = thing.link
    thing.act?.()
  }
  const press = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step === 0 || things.length === 0) return
    event.preventDefault()
    setAt((chosen + step + things.length) % things.length)
  }
  return (
    <form
      onSubmit={event => {
        event.preventDefault()
        open(things[chosen])
      }}
    >
      <input
        {...combobox(things.length, chosen)}
        aria-label="Find a run, a session, an agent or a screen"
        placeholder="A name, words of a run, or its id"
        maxLength={200}
        value={text}
        onInput={event => write(event.currentTarget.value)}
        onKeyDown={press}
      />
      <div id="found" role="listbox" aria-label="Found">
        {things.map((thing, index) => (
          <div
            key={`${thing.link ?? thing.title} ${thing.what}`}
            id={`found-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={() => open(thing)}
            onKeyDown={press}
          >
            <span class="cut">{visible(thing.title)}</span> <span class="soft">{thing.what}</span>
          </div>
        ))}
      </div>
      {text.trim() !== '' && things.length === 0 && (
        <p class="soft">Nothing was found. Try another word, or the whole id of a run.</p>
      )}
    </form>
  )
}

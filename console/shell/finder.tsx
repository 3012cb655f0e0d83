import { signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { catalog } from '../catalog.ts'
import { linkTo } from '../route.ts'
import { shownScreens } from '../screens.ts'
import { config } from '../service.ts'
import { visible } from '../text.ts'

const isOpen = signal(false)

/** Opens the dialog that finds things. */
export function openFinder(): void {
  isOpen.value = true
}

/** Most things that are offered. */
const MOST = 12

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

interface Thing {
  readonly title: string
  readonly what: string
  readonly link: string
}

/** Finds a screen, an agent or a run. `Ctrl K` opens it. */
export function Finder() {
  const dialog = useRef<HTMLDialogElement>(null)
  const [text, setText] = useState('')
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'k') return
      event.preventDefault()
      openFinder()
    }
    addEventListener('keydown', press)
    return () => removeEventListener('keydown', press)
  }, [])
  useEffect(() => {
    if (isOpen.value) dialog.current?.showModal()
  }, [isOpen.value])
  const close = () => {
    isOpen.value = false
    setText('')
    dialog.current?.close()
  }
  const found = thingsFor(text.trim())
  return (
    <dialog ref={dialog} class="finder" aria-label="Find" onClose={close}>
      {isOpen.value && (
        <form
          onSubmit={event => {
            event.preventDefault()
            const [first] = found
            close()
            if (first) location.hash = first.link
          }}
        >
          <input
            type="search"
            aria-label="Find a run, agent or screen"
            placeholder="A name, words of a run, or its id"
            value={text}
            onInput={event => setText(event.currentTarget.value)}
          />
          <ul>
            {found.map(({ title, what, link }) => (
              <li key={link}>
                <a href={link} onClick={close}>
                  {visible(title)} <span class="soft">{what}</span>
                </a>
              </li>
            ))}
          </ul>
        </form>
      )}
    </dialog>
  )
}

/** What fits a text, the likeliest first. */
function thingsFor(text: string): readonly Thing[] {
  if (ID.test(text)) return [{ title: text, what: 'run', link: linkTo('runs', [text.toLowerCase()]) }]
  const fits = (title: string) => title.toLowerCase().includes(text.toLowerCase())
  const screens = shownScreens().map(({ id, title }): Thing => ({ title, what: 'screen', link: linkTo(id) }))
  const agents = catalog.value.targets.map(({ kind, name }): Thing => {
    return { title: name, what: kind, link: linkTo('chat', [kind, name]) }
  })
  const named = [...screens, ...agents].filter(({ title }) => fits(title)).slice(0, MOST)
  if (text === '' || config.value.notStored !== null) return named
  return [...named, { title: `“${text}”`, what: 'in runs', link: linkTo('runs', [], { search: text }) }]
}

/** What the palette finds. */
import { computed, type Signal, signal } from '@preact/signals'
import { catalog } from '../catalog.ts'
import { linkTo } from '../route.ts'
import { shownScreens } from '../screens.ts'
import { client, config } from '../service.ts'
import { firstLine } from '../text.ts'

/** Something to open, by an address or by an act. */
export interface Thing {
  readonly title: string
  readonly what: string
  readonly link?: string
  readonly act?: () => void
}

/** Most screens, agents and acts that are offered, and most runs and sessions of a search. */
const MOST = 8
const MOST_FOUND = 5

/** Milliseconds after the last key before the service is asked. */
const PAUSE_MS = 250

const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

const hasSessions = () => config.value.plugins.includes('sessions') && config.value.identity !== null

/** The screens, agents and acts that a text names. */
export function namedBy(text: string, acts: readonly Thing[]): readonly Thing[] {
  const screens = shownScreens().map(({ id, title }): Thing => ({ title, what: 'screen', link: linkTo(id) }))
  const agents = catalog.value.targets.flatMap(({ kind, name }): Thing[] => [
    { title: name, what: `chat with this ${kind}`, link: linkTo('chat', [kind, name]) },
    { title: name, what: `page of this ${kind}`, link: linkTo('agents', [kind, name]) },
    { title: name, what: 'its runs', link: linkTo('runs', [], { kind, name }) },
  ])
  const words = text.toLowerCase().split(/\s+/)
  const fits = ({ title, what }: Thing) =>
    words.every(word => `${title} ${what}`.toLowerCase().includes(word))
  return [...screens, ...acts, ...agents].filter(fits).slice(0, MOST)
}

/** The runs and sessions with a text, once the service has told. A text that is changed is asked for anew. */
export class Found {
  readonly #things: Signal<{ readonly text: string; readonly things: readonly Thing[] }> = signal({
    text: '',
    things: [],
  })
  readonly things = computed(() => this.#things.value.things)
  #timer: ReturnType<typeof setTimeout> | undefined
  #asked: AbortController | undefined

  ask(text: string): void {
    clearTimeout(this.#timer)
    this.#asked?.abort()
    this.#things.value = { text, things: [] }
    if (text === '') return
    this.#timer = setTimeout(() => void this.#ask(text), PAUSE_MS)
  }

  async #ask(text: string): Promise<void> {
    const asked = new AbortController()
    const leaves = asked.signal
    this.#asked = asked
    const all = await Promise.all(
      [runsWith(text, leaves), sessionsWith(text, leaves)].map(each => each.catch(() => [])),
    )
    if (!leaves.aborted) this.#things.value = { text, things: all.flat() }
  }
}

async function runsWith(text: string, signal: AbortSignal): Promise<readonly Thing[]> {
  if (config.value.notStored !== null) return []
  if (ID.test(text)) {
    const id = text.toLowerCase()
    const { name, title } = await client.runs.get(id, { signal })
    return [{ title: title ?? id, what: `run of ${name}`, link: linkTo('runs', [id]) }]
  }
  const { runs } = await client.runs.list({ search: text.slice(0, 200), limit: MOST_FOUND }, { signal })
  const found = runs.map(
    ({ id, name, title }): Thing => ({
      title: title ?? id,
      what: `run of ${name}`,
      link: linkTo('runs', [id]),
    }),
  )
  return found.length < MOST_FOUND
    ? found
    : [
        ...found,
        { title: `All runs with “${text}”`, what: 'runs', link: linkTo('runs', [], { search: text }) },
      ]
}

async function sessionsWith(text: string, signal: AbortSignal): Promise<readonly Thing[]> {
  if (!hasSessions() || ID.test(text)) return []
  const { sessions } = await client.sessions.list(
    { search: text.slice(0, 200), limit: MOST_FOUND },
    { signal },
  )
  return sessions.map(({ id, kind, name, title }): Thing => {
    return {
      title: firstLine(title ?? '') || id,
      what: `session with ${name}`,
      link: linkTo('sessions', [kind, name, id]),
    }
  })
}

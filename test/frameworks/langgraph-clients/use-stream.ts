/** Checks of `useStream` in a page without a browser. */
import { JSDOM } from 'jsdom'
import { brief, type Check, type How, type Message, textOf, until, type Way } from './way.ts'

/** The lines that have the hook, and are in use. */
const HOOKS: How = { lines: ['sdk-1.12', 'sdk-1.15'] }

/** What the checks use of the hook's result. */
export interface Hook {
  readonly values: object
  readonly messages: readonly Message[]
  readonly isLoading: boolean
  readonly error: unknown
  readonly interrupt?: { readonly value?: unknown; readonly when?: string }
  readonly branch: string
  setBranch(branch: string): void
  submit(values: object | undefined | null, options?: object): Promise<void>
  stop(): Promise<void>
  getMessagesMetadata(message: Message, index?: number): Metadata | undefined
}

export interface Metadata {
  readonly firstSeenState?: { readonly parent_checkpoint?: object | null }
  readonly branch?: string
  readonly branchOptions?: readonly string[]
}

/** A mounted hook. */
interface Mounted {
  hook(): Hook
  readonly threadId: () => string | undefined
  readonly errors: readonly string[]
  readonly created: readonly { readonly run_id: string }[]
  readonly finished: () => number
  /** What it rendered, each text of the last message once. */
  readonly shown: readonly string[]
  unmount(): void
}

/** Makes what a hook finds in a page, once. */
function page(): void {
  if ('document' in globalThis) return
  const { window } = new JSDOM('<div id="root"></div>', { url: 'http://page.test/' })
  Object.assign(globalThis, { window, document: window.document })
}

/** What a component gets: it calls the hook, and tells what that gives. */
interface Given {
  readonly use: (options: object) => Hook
  readonly options: object
  readonly told: (hook: Hook) => void
}

function Shown({ use, options, told }: Given): null {
  told(use(options))
  return null
}

async function mount(way: Way, agent: string, options: object = {}): Promise<Mounted> {
  page()
  const { createElement } = await import('react')
  const { createRoot } = await import('react-dom/client')
  const { useStream } = await import(`${way.server.line}/react`)
  const errors: string[] = []
  const created: { readonly run_id: string }[] = []
  const shown: string[] = []
  let hook: Hook | undefined
  let finished = 0
  let threadId: string | undefined
  const all = {
    ...{
      apiUrl: way.server.url,
      apiKey: 'ann',
      assistantId: agent,
      throttle: false,
      fetchStateHistory: true,
    },
    onThreadId: (id: string) => {
      threadId = id
    },
    onError: (error: unknown) => errors.push((error as Error)?.message ?? String(error)),
    onCreated: (run: { readonly run_id: string }) => created.push(run),
    onFinish: () => finished++,
    ...options,
  }
  const told = (now: Hook) => {
    hook = now
    const text = brief(now.messages).at(-1)
    if (text !== undefined && text !== shown.at(-1)) shown.push(text)
  }
  const root = createRoot(document.createElement('div'))
  root.render(createElement(Shown, { use: useStream, options: all, told }))
  await until(
    () => hook,
    each => each !== undefined,
  )
  return {
    hook: () => hook as Hook,
    threadId: () => threadId ?? (options as { readonly threadId?: string }).threadId,
    ...{ errors, created, shown },
    finished: () => finished,
    unmount: () => root.unmount(),
  }
}

const human = (content: string) => ({ messages: [{ type: 'human', content }] })

/** Sends a message, and waits for the end of the run. */
async function send(mounted: Mounted, text: string, options?: object): Promise<void> {
  mounted.hook().submit(human(text), options)
  await ended(mounted)
}

/** Waits until the hook has begun, and has ended. */
async function ended(mounted: Mounted): Promise<void> {
  await until(() => mounted.hook().isLoading, Boolean, 3000)
  await until(
    () => mounted.hook().isLoading,
    isLoading => !isLoading,
  )
  await until(
    () => mounted.finished(),
    count => count > 0,
    1000,
  )
}

const texts = (mounted: Mounted) => brief(mounted.hook().messages)

/** The metadata of the message at a place, once the history is there. */
const metadataOf = (mounted: Mounted, at: number) =>
  until(
    () => {
      const message = mounted.hook().messages[at]
      return message && mounted.hook().getMessagesMetadata(message, at)
    },
    found => found?.firstSeenState !== undefined,
    5000,
  )

/** The checkpoint before the message at a place. */
const before = async (mounted: Mounted, at: number) =>
  (await metadataOf(mounted, at))?.firstSeenState?.parent_checkpoint

export const hookChecks: readonly Check[] = [
  [
    '38 useStream sends',
    async way => {
      const mounted = await mount(way, 'talks')
      await send(mounted, 'one')
      const one = ['human one', 'ai You said one, message 1.']
      way.fact('messages', texts(mounted), one)
      way.fact('in pieces', mounted.shown.includes('ai You said'))
      way.fact(
        'never back',
        mounted.shown
          .filter(each => each.startsWith('ai'))
          .every((each, at, all) => at === 0 || each.startsWith(all[at - 1] ?? '')),
      )
      way.fact('created', mounted.created.length, 1)
      way.fact('finished', mounted.finished(), 1)
      await send(mounted, 'two')
      way.fact('second', texts(mounted), [...one, 'human two', 'ai You said two, message 2.'])
      await send(mounted, 'three')
      way.fact('third', texts(mounted).at(-1), 'ai You said three, message 3.')
      way.fact('errors', mounted.errors, [])
      const again = await mount(way, 'talks', { threadId: mounted.threadId() })
      await until(
        () => texts(again).length,
        count => count === 6,
      )
      way.fact('after a reload', texts(again), texts(mounted))
      mounted.unmount()
      again.unmount()
    },
    HOOKS,
  ],
  [
    '38 useStream without history',
    async way => {
      const mounted = await mount(way, 'talks', { fetchStateHistory: false })
      await send(mounted, 'one')
      await send(mounted, 'two')
      way.fact('messages', texts(mounted).at(-1), 'ai You said two, message 2.')
      const again = await mount(way, 'talks', { threadId: mounted.threadId(), fetchStateHistory: false })
      await until(
        () => texts(again).length,
        count => count === 4,
      )
      way.fact('after a reload', texts(again), texts(mounted))
      mounted.unmount()
      again.unmount()
    },
    HOOKS,
  ],
  [
    '38 useStream and a tool',
    async way => {
      const mounted = await mount(way, 'talks')
      await send(mounted, 'weather')
      const all = ['human weather', 'ai', 'tool 21C in Paris', 'ai It is 21C in Paris.']
      way.fact('messages', texts(mounted), all)
      way.fact('call', mounted.hook().messages[1]?.tool_calls?.[0]?.args, { city: 'Paris' })
      mounted.unmount()
    },
    HOOKS,
  ],
  [
    '38 useStream waits and resumes',
    async way => {
      const mounted = await mount(way, 'pays')
      await send(mounted, '5')
      const value = mounted.hook().interrupt?.value as { action_requests?: { args: object }[] } | undefined
      way.fact('asks', value?.action_requests?.[0]?.args, { amount: 5 })
      way.fact('messages', texts(mounted), ['human 5', 'ai'])
      const again = await mount(way, 'pays', { threadId: mounted.threadId() })
      await until(() => again.hook().interrupt, Boolean)
      way.fact('asks after a reload', JSON.stringify(again.hook().interrupt?.value) === JSON.stringify(value))
      mounted.hook().submit(undefined, { command: { resume: { decisions: [{ type: 'approve' }] } } })
      await ended(mounted)
      way.fact('goes on', texts(mounted), ['human 5', 'ai', 'tool paid 5', 'ai I have paid 5.'])
      way.fact('asks no more', mounted.hook().interrupt ?? null, null)
      await send(mounted, '7')
      way.fact('asks once more', Boolean(mounted.hook().interrupt))
      mounted.unmount()
      again.unmount()
    },
    HOOKS,
  ],
  [
    '38 useStream edits and has branches',
    async way => {
      const mounted = await mount(way, 'talks')
      await send(mounted, 'one')
      await send(mounted, 'two')
      await send(mounted, 'other', { checkpoint: await before(mounted, 2) })
      const first = ['human one', 'ai You said one, message 1.']
      way.fact('edited', texts(mounted), [...first, 'human other', 'ai You said other, message 2.'])
      const metadata = await until(
        () => metadataOf(mounted, 2),
        found => found?.branchOptions?.length === 2,
        5000,
      )
      way.fact('branches', metadata?.branchOptions?.length, 2)
      way.fact('is on the second', metadata?.branchOptions?.indexOf(metadata.branch ?? ''), 1)
      mounted.hook().setBranch(metadata?.branchOptions?.[0] ?? '')
      await until(
        () => texts(mounted).at(-1),
        text => text === 'ai You said two, message 2.',
        3000,
      )
      way.fact('the first branch', texts(mounted), [...first, 'human two', 'ai You said two, message 2.'])
      mounted.hook().setBranch(metadata?.branchOptions?.[1] ?? '')
      await until(
        () => texts(mounted).at(-1),
        text => text === 'ai You said other, message 2.',
        3000,
      )
      await send(mounted, 'three')
      way.fact('goes on', texts(mounted).slice(-2), ['human three', 'ai You said three, message 3.'])
      await send(mounted, 'four')
      way.fact('and on', texts(mounted).slice(-2), ['human four', 'ai You said four, message 4.'])
      way.fact('errors', mounted.errors, [])
      mounted.unmount()
    },
    HOOKS,
  ],
  [
    '38 useStream edits the first message',
    async way => {
      const mounted = await mount(way, 'talks')
      await send(mounted, 'one')
      await send(mounted, 'other', { checkpoint: await before(mounted, 0) })
      way.fact('edited', texts(mounted), ['human other', 'ai You said other, message 1.'])
      const metadata = await until(
        () => metadataOf(mounted, 0),
        found => found?.branchOptions?.length === 2,
        5000,
      )
      way.fact('branches', metadata?.branchOptions?.length, 2)
      way.fact('errors', mounted.errors, [])
      mounted.unmount()
    },
    HOOKS,
  ],
  [
    '38 useStream answers again',
    async way => {
      const mounted = await mount(way, 'talks')
      await send(mounted, 'one')
      const [, old] = mounted.hook().messages
      mounted.hook().submit(undefined, { checkpoint: await before(mounted, 1) })
      await ended(mounted)
      way.fact('messages', texts(mounted), ['human one', 'ai You said one, message 1.'])
      way.fact('another answer', mounted.hook().messages[1]?.id !== old?.id)
      const metadata = await until(
        () => metadataOf(mounted, 1),
        found => found?.branchOptions?.length === 2,
        5000,
      )
      way.fact('branches', metadata?.branchOptions?.length, 2)
      await send(mounted, 'two')
      way.fact('goes on', texts(mounted).slice(-2), ['human two', 'ai You said two, message 2.'])
      way.fact('errors', mounted.errors, [])
      mounted.unmount()
    },
    HOOKS,
  ],
  ...[true, false].map(
    (reconnectOnMount): Check => [
      `38 useStream stops${reconnectOnMount ? ', and could join' : ''}`,
      async way => {
        const mounted = await mount(way, 'slow', { reconnectOnMount })
        mounted.hook().submit(human('100'))
        await until(
          () => texts(mounted).at(-1),
          text => text?.startsWith('ai 1 2') ?? false,
        )
        await mounted.hook().stop()
        const thread = mounted.threadId() ?? ''
        const run = mounted.created[0]?.run_id ?? ''
        const status = await until(
          () => way.runStatus(thread, run),
          each => each !== 'running',
        )
        way.fact('run', status, 'interrupted')
        await until(
          () => mounted.hook().isLoading,
          isLoading => !isLoading,
        )
        way.fact('no error', mounted.errors, [])
        way.fact('waits for nothing', mounted.hook().interrupt ?? null, null)
        await send(mounted, '2')
        way.fact('goes on', texts(mounted).slice(-2), ['human 2', 'ai 1 2'])
        mounted.unmount()
      },
      HOOKS,
    ],
  ),
  [
    '38 useStream joins again',
    async way => {
      const first = await mount(way, 'slow', { reconnectOnMount: true })
      first.hook().submit(human('40'))
      await until(
        () => texts(first).at(-1),
        text => text?.startsWith('ai 1 2 3') ?? false,
      )
      const threadId = first.threadId()
      first.unmount()
      const second = await mount(way, 'slow', { reconnectOnMount: true, threadId })
      const text = await until(
        () => texts(second).at(-1),
        each => each?.startsWith('ai 1 2 3') ?? false,
        3000,
      )
      way.fact('text at once', text?.startsWith('ai 1 2 3'))
      await until(
        () => second.hook().isLoading,
        isLoading => !isLoading,
      )
      const whole = Array.from({ length: 40 }, (_, at) => at + 1).join(' ')
      way.fact('whole', texts(second), ['human 40', `ai ${whole}`])
      way.fact('errors', second.errors, [])
      await send(second, '2')
      way.fact('goes on', texts(second).slice(-2), ['human 2', 'ai 1 2'])
      second.unmount()
    },
    HOOKS,
  ],
  [
    '38 useStream is told an error',
    async way => {
      const mounted = await mount(way, 'fails')
      await send(mounted, 'hi')
      const { error } = mounted.hook()
      way.fact('error', textOf((error as Error | undefined)?.message ?? '') !== '')
      way.fact('onError', mounted.errors.length > 0)
      const again = await mount(way, 'fails', { threadId: mounted.threadId() })
      await until(
        () => texts(again).length,
        count => count > 0,
      )
      await until(() => again.hook().error, Boolean, 2000)
      way.fact('after a reload', Boolean(again.hook().error))
      mounted.unmount()
      again.unmount()
    },
    HOOKS,
  ],
  [
    '38 useStream of an unknown thread',
    async way => {
      const failed: string[] = []
      const note = (error: unknown) => void failed.push((error as Error).message)
      process.on('unhandledRejection', note)
      const mounted = await mount(way, 'talks', { threadId: '00000000-0000-4000-8000-000000000000' })
      await until(
        () => mounted.errors.length + failed.length,
        count => count > 0,
        5000,
      )
      way.fact(
        'error',
        [...mounted.errors, ...failed].some(each => each.includes('404')),
      )
      mounted.unmount()
      process.off('unhandledRejection', note)
    },
    { ...HOOKS, alone: true },
  ],
]

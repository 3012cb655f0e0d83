/** Pages that read a run to its end over cuts, each over another protocol. */
import { createClient, type ServableClientError } from '../../../src/client/index.ts'
import type { RunEvent } from '../../../src/index.ts'
import { ServableAgent } from '../../../src/protocols/ag-ui-client/index.ts'
import { messagesOf as turnsAsMessages } from '../../../src/protocols/ai-sdk-ui/page.ts'
import { type Message as ChatMessage, CLIENTS, open } from '../../contracts/ai-sdk-ui/clients.ts'
import { said } from '../../contracts/ai-sdk-ui/page.ts'
import { jsonRequest, messagesOf } from '../../contracts/http/client.ts'
import { own } from '../../contracts/runs/client.ts'

/** The thread that a page shows. */
export interface Thread {
  /** The address of the service. */
  readonly url: string
  readonly threadId: string
  readonly headers: Record<string, string>
  readonly user: string
  /** What the user says. */
  readonly input: string
}

/** A page that is attached. */
export interface AttachedPage {
  /** The text that the page shows now. */
  text(): string
  /**
   * Resolves once the page knows that the answer has ended, with the number of cuts where the page counts them, else 0. Rejects if it was
   * told something twice, or not at all.
   */
  readonly end: Promise<number>
  /** Whether the page was told that its run goes on elsewhere. Undefined where the protocol does not tell. */
  readonly wentOn?: () => boolean
}

/** Begins a run, and attaches a page to it. */
export type Attach = (thread: Thread) => Promise<AttachedPage>

export const PAGES: Readonly<Record<string, Attach>> = {
  'AG-UI': overAgUi,
  SSE: overSse,
  client: overClient,
  useChat: overChat,
  Responses: overResponses,
}

const AGENT = 'numbers'

/** Asks until there is an answer: a process may die before it has answered. A key makes it one run. */
async function asked(url: string, init?: RequestInit): Promise<Response> {
  for (let tries = 0; ; tries++) {
    try {
      const response = await fetch(url, init)
      if (response.ok) return response
      if (response.status < 500 || tries >= 100)
        throw new Refused(`${response.status} ${await response.text()}`)
    } catch (error) {
      if (error instanceof Refused || tries >= 100) throw error
    }
    await pause(50)
  }
}

class Refused extends Error {}

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

async function begin({ url, threadId, headers, input }: Thread): Promise<string> {
  const fields = { ...headers, prefer: 'respond-async', 'idempotency-key': own('key') }
  const body = jsonRequest({ input, sessionId: threadId }, fields)
  const record = await (await asked(`${url}/api/agents/${AGENT}/run`, body)).json()
  return record.id
}

/** A page does what it does without anybody who waits for it. */
function attached(text: () => string, end: Promise<number>, wentOn?: () => boolean): AttachedPage {
  end.catch(() => {})
  return { text, end, ...(wentOn && { wentOn }) }
}

async function overAgUi(thread: Thread): Promise<AttachedPage> {
  const { url, threadId, headers } = thread
  await begin(thread)
  const options = { url: `${url}/api/agents/${AGENT}/ag-ui`, threadId, headers }
  const page = new ServableAgent(options)
  const answers = () => page.messages.filter(({ role }) => role === 'assistant')
  const read = async () => {
    await page.connectAgent()
    const later = new ServableAgent(options)
    await later.connectAgent()
    const [own, others] = [page, later].map(({ messages }) => JSON.stringify(messages))
    if (page.messages.length !== answers().length + 1 || own !== others) throw new Error(`${own}, ${others}`)
    return 0
  }
  return attached(
    () =>
      answers()
        .map(({ content }) => content)
        .join(''),
    read(),
  )
}

/** What a page shows of a run. It drops the text where the run goes on elsewhere. */
class Shown {
  text = ''
  wentOn = false
  hasEnded = false

  /** Adds an event. Throws for one that comes after the end, and for an end that is an error. */
  add(event: RunEvent): void {
    if (this.hasEnded || event.type === 'error') throw new Refused(JSON.stringify(event))
    if (event.type === 'text') this.text += event.text
    if (event.type === 'finish') this.hasEnded = true
    if (event.type !== 'resumed') return
    this.wentOn = true
    this.text = ''
  }
}

async function overSse(thread: Thread): Promise<AttachedPage> {
  const id = await begin(thread)
  const shown = new Shown()
  let last = 0
  const read = async () => {
    const at: Record<string, string> = last === 0 ? {} : { 'last-event-id': String(last) }
    const response = await asked(`${thread.url}/api/runs/${id}/stream`, {
      headers: { ...thread.headers, ...at },
    })
    for await (const message of messagesOf(response)) {
      if (Number(message.id) !== last + 1) throw new Refused(`${message.id} after ${last}`)
      last++
      shown.add(message.event)
    }
  }
  const end = overCuts(read, () => shown.hasEnded)
  return attached(
    () => shown.text,
    end,
    () => shown.wentOn,
  )
}

/** Reads again while the end is not there. Gives the number of cuts. */
async function overCuts(read: () => Promise<void>, hasEnded: () => boolean): Promise<number> {
  for (let cuts = 0; cuts <= 100; cuts++) {
    await read().catch(error => {
      if (error instanceof Refused) throw error
    })
    if (hasEnded()) return cuts
    await pause(20)
  }
  throw new Error('the end never came')
}

async function overClient(thread: Thread): Promise<AttachedPage> {
  const client = createClient({ baseUrl: `${thread.url}/api`, headers: thread.headers })
  const { id } = await client.runs.start({ kind: 'agent', name: AGENT }, thread.input, {
    sessionId: thread.threadId,
  })
  const shown = new Shown()
  const read = async () => {
    for await (const event of client.runs.stream(id)) shown.add(event)
    if (!shown.hasEnded) throw new Error('the end never came')
    return 0
  }
  return attached(
    () => shown.text,
    read(),
    () => shown.wentOn,
  )
}

/** A page of `useChat` that is loaded again after each cut. */
async function overChat(thread: Thread): Promise<AttachedPage> {
  const { url, threadId: id, headers, user } = thread
  await begin(thread)
  const client = createClient({ baseUrl: `${url}/api`, headers })
  const newest = CLIENTS.at(-1)!
  let messages = (): readonly ChatMessage[] => []
  let hasEnded = false
  const read = async () => {
    // There is no session before its first run has ended.
    const { turns } = await client.sessions.messages(AGENT, id).catch(unknownYet)
    const kept = turnsAsMessages(turns) as readonly ChatMessage[]
    const { chat, asked: requests } = open(newest, { url }, `agents/${AGENT}`, { id, user, messages: kept })
    messages = () => chat.messages
    await chat.resumeStream()
    hasEnded = requests.at(-1)?.text.endsWith('data: [DONE]\n\n') || turns[0]?.status === 'completed'
  }
  const answer = () => messages().filter(({ role }) => role === 'assistant')
  return attached(
    () =>
      answer()
        .flatMap(message => said(message))
        .join(''),
    overCuts(read, () => hasEnded),
  )
}

function unknownYet(error: ServableClientError): { readonly turns: readonly [] } {
  if (error.code !== 'session_not_found') throw new Refused(error.message)
  return { turns: [] }
}

interface ResponseEvent {
  readonly type: string
  readonly sequence_number: number
  readonly delta?: string
}

async function overResponses(thread: Thread): Promise<AttachedPage> {
  const { url, headers, input } = thread
  const fields = { ...headers, 'idempotency-key': own('key') }
  const init = jsonRequest({ model: AGENT, input, background: true }, fields)
  const { id } = await (await asked(`${url}/v1/responses`, init)).json()
  let [text, last, hasEnded] = ['', -1, false]
  const read = async () => {
    const from = last === -1 ? '' : `&starting_after=${last}`
    const response = await asked(`${url}/v1/responses/${id}?stream=true${from}`, { headers })
    for await (const { event } of messagesOf(response)) {
      const { type, sequence_number, delta } = event as unknown as ResponseEvent
      if (sequence_number !== last + 1 || hasEnded) throw new Refused(`${sequence_number} after ${last}`)
      last++
      if (type === 'response.output_text.delta') text += delta
      if (/^response\.(failed|incomplete)$/.test(type)) throw new Refused(type)
      hasEnded = type === 'response.completed'
    }
  }
  return attached(
    () => text,
    overCuts(read, () => hasEnded),
  )
}

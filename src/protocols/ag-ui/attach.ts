/**
 * `GET …/ag-ui?threadId=…`: the conversation until now, and the run that is at work.
 *
 * @module
 */

import type { Caller, Context, FinishEvent, RunEvent, RunRecord, Target, Turn } from '../../core-entry.ts'
import { Reply } from '../../web/reply.ts'
import { SSE_HEADERS, sseData } from '../../web/sse.ts'
import { isServableError } from '../encoders/index.ts'
import { idIn, type KnownCalls } from './answers.ts'
import { AgUiEncoder } from './encoder.ts'
import { Numbered, type StreamPosition } from './numbered.ts'
import { clientCallsOf, Transcript } from './transcript.ts'

/** Most messages of the conversation that are sent, and most characters of them as JSON. The newest are kept. */
const MAX_MESSAGES = 1000
const MAX_LENGTH = 1024 * 1024

/** Who attaches to what. */
export interface Attaching {
  readonly target: Target
  readonly caller: Caller
  readonly identity: Context['identity']
  /** The ids that the client gives the conversation and, if it does, the run. */
  readonly client: { readonly threadId: string; readonly runId: string | undefined }
  readonly isVersion1: boolean
  /** What the client has already. */
  readonly known: StreamPosition | undefined
}

/** The run of a turn, read as far as it is. */
interface ReadRun {
  readonly encoder: AgUiEncoder
  readonly about: RunAbout
  /** The position until which it was read. */
  readonly at: number
  /** Its last events for the client, once it has ended. */
  readonly end: string | undefined
  /** The calls of the client's tools that it waits for. */
  readonly asked: readonly string[]
}

interface RunAbout {
  readonly runId: string
  readonly client: { readonly threadId: string; readonly runId: string }
}

/** One message of a user, and the runs that answer it. */
interface Told {
  readonly transcript: Transcript
  readonly newest: ReadRun | undefined
  readonly id: string
}

/** Answers a client that attaches. Rejects with `run_not_found` for a position in a run that is not the caller's. */
export async function attach(asking: Attaching): Promise<Reply> {
  return asking.known === undefined ? fromBeginning(asking) : goOn(asking, asking.known)
}

/** The events after a position, and no others. */
async function goOn(asking: Attaching, position: StreamPosition): Promise<Reply> {
  const { target, caller, client } = asking
  const { runId } = position
  const record = await caller.runs.get(runId).catch(noRun)
  const isOfThread = record && (record.sessionId === undefined || record.sessionId === client.threadId)
  if (!isOfThread || record.kind !== target.kind || record.name !== target.name) return fromBeginning(asking)
  const transcript = new Transcript()
  let results: readonly string[] = []
  if (record.continuedFrom !== undefined) {
    for (const id of await caller.runs.chain(record.continuedFrom)) {
      if (id === runId) break
      results = (await readRun(id, asking, transcript, results)).asked
    }
  }
  const { encoder } = beginRun(runId, asking, transcript, results)
  return caller.stream([runId], new Numbered(encoder, runId, position), { headers: NO_STORE })
}

async function fromBeginning(asking: Attaching): Promise<Reply> {
  const { caller, identity } = asking
  // Without an identity, whoever guesses the id would read what others said.
  const isKept = identity && caller.whyUnstored === undefined
  const told = isKept ? await conversation(asking) : []
  const current = told.at(-1)
  if (current === undefined) return new Reply('', { headers: { ...SSE_HEADERS, ...NO_STORE } })
  const { newest, id } = current
  const open = newest?.end === undefined ? (newest?.encoder.openCalls ?? NONE) : NONE
  const messages = told.flatMap(each => each.transcript.without(each === current ? open : NONE))
  const about = newest?.about ?? aboutOf(id, asking)
  const protocolVersion = asking.isVersion1 ? '1.0' : undefined
  const begun =
    sseData({ type: 'RUN_STARTED', ...about.client, protocolVersion }) +
    sseData({ type: 'MESSAGES_SNAPSHOT', messages }) +
    stateOf(told)
  const headers = { ...NO_STORE, 'x-run-id': id }
  const { transcript } = current
  if (newest !== undefined && newest.end === undefined) {
    const reopened = newest.encoder.reopen(
      call => transcript.argsOf(call),
      call => transcript.nameOf(call),
    )
    // With its last event the client has all of it: it goes on from there.
    const head = known(begun + reopened, id, newest.at)
    return caller.stream([id], new Numbered(newest.encoder, id), { head, headers, after: newest.at })
  }
  // What its end closes is not open for the client.
  const [end = JSON.stringify({ type: 'RUN_FINISHED', ...about.client })] =
    newest?.end === undefined
      ? []
      : [
          newest.end
            .trimEnd()
            .split('\ndata: ')
            .at(-1)
            ?.replace(/^data: /, ''),
        ]
  const text = known(`${begun}data: ${end}\n\n`, id, newest?.at ?? 0)
  return new Reply(text, { headers: { ...SSE_HEADERS, ...headers } })
}

/** Gives the last event of a text an `id`: with it the client has all until this position. */
function known(text: string, runId: string, at: number): string {
  const last = text.lastIndexOf('\n\n', text.length - 3) + 2
  return `${text.slice(0, last)}id: ${runId}:${at}.999999\n${text.slice(last)}`
}

const NO_STORE = { 'cache-control': 'no-store, no-transform' }
const NONE: ReadonlySet<string> = new Set()

/** The newest messages with their answers, the oldest first. */
async function conversation(asking: Attaching): Promise<Told[]> {
  const { caller, target, client } = asking
  const session = { target, id: client.threadId }
  const turns = await caller.sessions.turns(session)
  const newest = (await caller.runs.newest(session))?.run
  const groups = grouped(turns)
  if (newest?.status === 'running' && !turns.some(({ runId }) => runId === newest.id)) {
    const { continuedFrom, id: runId } = newest
    const group = groups.find(each => each.some(turn => turn.runId === continuedFrom))
    const asked = { runId, input: group?.[0]?.input ?? (await inputOf(runId, caller)), continuedFrom }
    if (group === undefined) groups.push([asked])
    else group.push(asked)
  }
  const told: Told[] = []
  let [count, length] = [0, 0]
  for (const group of groups.toReversed()) {
    const each = await tell(group, asking)
    count += each.transcript.messages.length
    length += JSON.stringify(each.transcript.messages).length
    if (told.length > 0 && (count > MAX_MESSAGES || length > MAX_LENGTH)) break
    told.unshift(each)
  }
  return told
}

type Asked = Pick<Turn, 'runId' | 'input' | 'messageId' | 'continuedFrom' | 'text'>

async function inputOf(id: string, { runs }: Caller): Promise<Turn['input']> {
  try {
    return (await runs.input(id)).input
  } catch (error) {
    if (isServableError(error)) return ''
    throw error
  }
}

/** The turns by the message that they answer. */
function grouped(turns: readonly Asked[]): Asked[][] {
  const groups: Asked[][] = []
  for (const turn of turns) {
    if (turn.continuedFrom !== undefined && groups.length > 0) groups.at(-1)?.push(turn)
    else groups.push([turn])
  }
  return groups
}

/** What a client has of one message and its answer. */
async function tell(group: readonly Asked[], asking: Attaching): Promise<Told> {
  const transcript = new Transcript()
  const [{ runId = '', messageId, input = '' } = {}] = group
  transcript.ask(messageId ?? `${runId}:user`, input)
  let results: readonly string[] = []
  let newest: ReadRun | undefined
  for (const { runId: id, text } of group) {
    newest = await readRun(id, asking, transcript, results).catch(noRun)
    results = newest?.asked ?? []
    // Of a run whose events are not stored, the session has the text.
    if (newest === undefined && text) transcript.say(idIn(id, 1), text)
  }
  return { transcript, newest, id: group.at(-1)?.runId ?? runId }
}

function noRun(error: unknown): undefined {
  if (!isServableError(error) || error.code !== 'run_not_found') throw error
}

function aboutOf(runId: string, { client: { threadId, runId: named } }: Attaching): RunAbout {
  return { runId, client: { threadId, runId: named ?? runId } }
}

function beginRun(runId: string, asking: Attaching, transcript: Transcript, results: readonly string[]) {
  const known: KnownCalls = { calls: transcript.calls, results: new Set(results) }
  const about = aboutOf(runId, asking)
  const encoder = new AgUiEncoder({ ...about, isVersion1: asking.isVersion1, mayResume: true, ...known })
  return { encoder, about }
}

/** Reads the events that a run has until now. Rejects with `run_not_found`. */
async function readRun(
  runId: string,
  asking: Attaching,
  transcript: Transcript,
  results: readonly string[],
): Promise<ReadRun> {
  const { runs } = asking.caller
  const { encoder, about } = beginRun(runId, asking, transcript, results)
  const read = { encoder, about, at: 0, asked: [] as readonly string[], end: undefined as string | undefined }
  const before = transcript.calls
  const add = (event: RunEvent) => {
    if (event.type === 'tool_call_ready' && before.has(event.toolCallId))
      transcript.edit(event.toolCallId, event.args)
    if (event.type === 'tool_call_end' && results.includes(event.toolCallId))
      tellResult(event, runId, transcript)
    const text = encoder.encode(event)
    transcript.add(text)
    if (event.type === 'finish' || event.type === 'error') read.end = text
    if (event.type === 'finish') read.asked = clientCallsOf(event)
  }
  for (let isOver = false; !isOver; ) {
    const { events, next, ended } = await runs.log(runId, { after: read.at })
    for (const { event } of events) add(await asItIs(event as RunEvent, () => runs.get(runId)))
    read.at = next
    isOver = ended || events.length === 0
  }
  return read
}

/** The end of a run whose requests are open no more has none. */
async function asItIs(event: RunEvent, get: () => Promise<RunRecord>): Promise<RunEvent> {
  if (event.type !== 'finish' || event.requests === undefined) return event
  const { status, continuedBy } = await get()
  if (status === 'input_required' || continuedBy !== undefined) return event
  const { requests: _, ...rest } = event
  return { ...rest, finishReason: 'cancelled' } satisfies FinishEvent
}

/** The client has told this result itself. */
function tellResult(
  { toolCallId, result, error }: Extract<RunEvent, { type: 'tool_call_end' }>,
  runId: string,
  transcript: Transcript,
): void {
  const content = error ?? (typeof result === 'string' ? result : (JSON.stringify(result) ?? 'null'))
  const messageId = idIn(runId, `result-${toolCallId}`)
  transcript.add(sseData({ type: 'TOOL_CALL_RESULT', messageId, toolCallId, content, role: 'tool' }))
}

/** The newest state, and its changes. */
function stateOf(told: readonly Told[]): string {
  const lines: string[] = []
  for (const { transcript } of told.toReversed()) {
    lines.unshift(...transcript.state)
    if (lines[0]?.includes('"STATE_SNAPSHOT"')) break
  }
  return lines.map(line => `${line}\n\n`).join('')
}

/**
 * A stored run in a test: it can be followed, answered and read, whichever process has it.
 *
 * @module
 */

import type { Answer, InputRequest, RunEvent, RunInput, RunResult } from '../agents/contract.ts'
import type { Client, FollowedOptions, RunRecord, RunTarget } from '../client/index.ts'
import { AgentAssertionError } from './matchers.ts'
import { requestLine, transcript } from './transcript.ts'

/** A stored run. Once its requests are answered, it is the run that goes on: one test run is the whole chain. */
export interface TestRun {
  /** The id of the run that is at work, or ended last. */
  readonly id: string
  /** The ids of all runs of the chain, oldest first. */
  readonly ids: readonly string[]
  /**
   * Waits until the run waits for someone, and returns the request: of a tool, of a question by its name, or of the request's id.
   * Without a name there must be exactly one. Rejects with the run's transcript if the run ends without it, or is not there after
   * `timeoutMs` of real time.
   */
  request(name?: string): Promise<InputRequest>
  /** Waits for the request of a tool call, and approves it. */
  approve(name?: string, how?: { readonly reason?: string; readonly editedArgs?: unknown }): Promise<void>
  /** Waits for the request of a tool call, and denies it. The model gets the reason. */
  reject(name?: string, reason?: string): Promise<void>
  /** Waits for a question, or for a tool that the client runs, and answers with a value: the tool's result. */
  answer(name: string, value: unknown): Promise<void>
  /** Waits for the end and returns the result. A run that waits for someone has one, with `requests`. Rejects as the client does. */
  result(): Promise<RunResult>
  /** The events until now, of the whole chain, oldest first. */
  events(): Promise<readonly RunEvent[]>
  /** The events until now, one line for what belongs together. */
  transcript(): Promise<string>
  /** The record of the run. */
  record(): Promise<RunRecord>
  /** Cancels the run. */
  cancel(): Promise<void>
}

/** What a test run needs of its service. */
export interface RunParts {
  readonly client: Client
  /** Most milliseconds of real time that it waits for something of a run. */
  readonly timeoutMs: number
  /** Calls `work` after real time. Returns a function that cancels that. */
  readonly after: (ms: number, work: () => void) => () => void
}

/** Starts a run in the background. */
export async function startTestRun(
  parts: RunParts,
  target: RunTarget,
  input: RunInput,
  options?: FollowedOptions,
): Promise<TestRun> {
  const { id } = await parts.client.runs.start(target, input, options)
  return testRun(parts, id)
}

/** A run that somebody has started. */
export function testRun(parts: RunParts, id: string): TestRun {
  return new StartedRun(parts, id)
}

/** Most events that one page asks for. */
const PAGE = 1000

/** What decides on a request, and of which kinds. */
interface Decision {
  readonly kinds: readonly InputRequest['kind'][]
  readonly answer: (request: InputRequest) => Answer
}

class StartedRun implements TestRun {
  readonly ids: string[]
  readonly #parts: RunParts

  constructor(parts: RunParts, id: string) {
    this.#parts = parts
    this.ids = [id]
  }

  get id(): string {
    return this.ids.at(-1)!
  }

  request(name?: string): Promise<InputRequest> {
    return this.#request(name)
  }

  async approve(name?: string, how: Parameters<TestRun['approve']>[1] = {}): Promise<void> {
    await this.#decide(name, {
      kinds: ['approval'],
      answer: ({ id }) => ({ id, decision: 'approve', ...how }),
    })
  }

  async reject(name?: string, reason?: string): Promise<void> {
    await this.#decide(name, {
      kinds: ['approval'],
      answer: ({ id }) => ({ id, decision: 'deny', ...(reason !== undefined && { reason }) }),
    })
  }

  async answer(name: string, value: unknown): Promise<void> {
    await this.#decide(name, {
      kinds: ['question', 'client_tool'],
      answer: ({ id, kind }) => (kind === 'question' ? { id, value } : { id, result: value }),
    })
  }

  async result(): Promise<RunResult> {
    await this.#ended('its end')
    return this.#parts.client.runs.result(this.id)
  }

  async events(): Promise<readonly RunEvent[]> {
    const all: RunEvent[] = []
    for (const id of this.ids) all.push(...(await this.#eventsOf(id)))
    return all
  }

  async transcript(): Promise<string> {
    return transcript(await this.events())
  }

  record(): Promise<RunRecord> {
    return this.#parts.client.runs.get(this.id)
  }

  async cancel(): Promise<void> {
    await this.#parts.client.runs.cancel(this.id)
  }

  async #eventsOf(id: string): Promise<RunEvent[]> {
    const events: RunEvent[] = []
    for (let after = 0; ; ) {
      const page = await this.#parts.client.runs.events(id, { after, limit: PAGE })
      events.push(...page.events.map(({ event }) => event as RunEvent))
      if (page.ended || page.events.length === 0) return events
      after = page.next
    }
  }

  async #decide(name: string | undefined, { kinds, answer }: Decision): Promise<void> {
    const request = await this.#request(name, kinds)
    const { id, digest } = request
    const { next } = await this.#parts.client.runs.answer(this.id, [
      { ...answer(request), id, digest } as Answer,
    ])
    if (next !== undefined) this.ids.push(next.id)
  }

  async #request(name: string | undefined, kinds?: readonly InputRequest['kind'][]): Promise<InputRequest> {
    const what = `${kinds?.join(' or ') ?? 'a request'}${name === undefined ? '' : ` of \`${name}\``}`
    const { status, requests = [] } = await this.#ended(what)
    const fitting = requests.filter(
      request => (kinds?.includes(request.kind) ?? true) && (name === undefined || isOf(request, name)),
    )
    const [only, ...others] = fitting
    if (only !== undefined && others.length === 0) return only
    const open = requests.map(each => `  ${requestLine(each)}`)
    if (only !== undefined)
      throw await this.#wrong(`The run waits for several of ${what}: name one of them`, open)
    const why = open.length === 0 ? `waits for nothing: it is ${status}` : 'waits for something else:'
    throw await this.#wrong(`The run does not wait for ${what}. It ${why}`, open)
  }

  /** Waits until the last run of the chain has ended, or waits for someone. */
  async #ended(what: string): Promise<RunRecord> {
    const { client, timeoutMs, after } = this.#parts
    const late = new AbortController()
    const stop = after(timeoutMs, () => late.abort())
    const { signal } = late
    try {
      while (true) {
        const events = client.runs.stream(this.id, { signal })
        while (!(await events.next()).done);
        const record = await client.runs.get(this.id, { signal })
        if (record.continuedBy === undefined) return record
        // Somebody else has answered, or the time of the request has passed.
        this.ids.push(record.continuedBy)
      }
    } catch (error) {
      if (!signal.aborted) throw error
      throw await this.#wrong(`The run did not come to ${what} within ${timeoutMs} ms`)
    } finally {
      stop()
    }
  }

  async #wrong(message: string, lines: readonly string[] = []): Promise<AgentAssertionError> {
    const told = await this.transcript().catch(error => `(its events cannot be read: ${error})`)
    const run = told === '' ? '  nothing' : told.replaceAll(/^/gm, '  ')
    return new AgentAssertionError([message, ...lines, 'The run:', run].join('\n'))
  }
}

/** Whether a request is of a tool, of a question or has an id. */
function isOf({ id, toolName }: InputRequest, name: string): boolean {
  if (toolName === name || id === name) return true
  const path = id.slice(id.indexOf('/') + 1)
  return path === name || path.slice(path.lastIndexOf(':') + 1) === name
}

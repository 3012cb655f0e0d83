/**
 * `servable run`: asks an agent, team or workflow, of this folder or of a service, and asks the person at the terminal what it asks.
 *
 * @module
 */

import process from 'node:process'
import { createInterface } from 'node:readline/promises'
import { text as readAll } from 'node:stream/consumers'
import type { Answer, InputRequest, Kind } from '../../agents/contract.ts'
import { KINDS } from '../../agents/registry.ts'
import { type Client, createClient } from '../../client/client.ts'
import { ServableClientError } from '../../client/error.ts'
import type { RunEvents } from '../../client/run-stream.ts'
import { shown } from '../../features/logs/shown.ts'
import { createHandler } from '../../handler.ts'
import { LOCAL } from '../../http/security/gate.ts'
import { beginLife } from '../../runs/life.ts'
import type { Screen } from '../screen.ts'
import { EXIT, type Options, serviceOf, textOf, UsageError } from '../service.ts'
import { RunPrinter } from '../tail.ts'
import { optionsHere } from './options.ts'
import { readEnv } from './serving.ts'

/** Runs one, and returns the exit code. Throws {@link UsageError} and the errors of the client. */
export async function runCommand(
  name: string,
  words: readonly string[],
  options: Options,
  screen: Screen,
): Promise<number> {
  const input = words.length > 0 ? words.join(' ') : await piped()
  const { client, end } = await (options.url === undefined ? clientHere(options) : clientThere(options))
  const stopped = new AbortController()
  const stop = () => stopped.abort()
  process.once('SIGINT', stop)
  try {
    const sessionId = textOf(options, 'session')
    const kind = await kindOf(client, name)
    const call = { signal: stopped.signal, ...(sessionId !== undefined && { sessionId }) }
    return await follow(client, client[kind](name).stream(input, call), options, screen)
  } catch (error) {
    if (!stopped.signal.aborted) throw error
    return EXIT.left
  } finally {
    process.off('SIGINT', stop)
    await end()
  }
}

async function piped(): Promise<string> {
  if (process.stdin.isTTY) throw new UsageError('Give the input: servable run NAME "Hello"')
  return (await readAll(process.stdin)).trim()
}

interface Reached {
  readonly client: Client
  end(): Promise<void>
}

async function clientThere(options: Options): Promise<Reached> {
  return { client: createClient(await serviceOf(options)), async end() {} }
}

/** A client of this folder's agents, without a server. Their state is that of `servable dev`. */
async function clientHere(options: Options): Promise<Reached> {
  const cwd = process.cwd()
  process.env.NODE_ENV ??= 'development'
  await readEnv(cwd)
  const here = await optionsHere({ path: textOf(options, 'from'), cwd, production: false, console: false })
  const handler = createHandler({
    ...here.options,
    prefix: '/api',
    // Whoever has this terminal is the `local` of the console.
    middleware: [
      (_, context, next) => {
        context.identity = LOCAL
        return next()
      },
    ],
    logger: false,
  })
  const end = await beginLife(handler)
  return {
    client: createClient({ baseUrl: 'http://127.0.0.1/api', fetch: request => handler(request) }),
    end,
  }
}

/** What has the name: an agent before a team before a workflow. */
async function kindOf(client: Client, name: string): Promise<Kind> {
  const names = await client.registry().catch(error => {
    // A service may hide its lists.
    if (error instanceof ServableClientError && error.status !== undefined) return undefined
    throw error
  })
  if (names === undefined) return 'agent'
  const found = KINDS.find(kind => names[`${kind}s`].includes(name))
  if (found !== undefined) return found
  const all = KINDS.flatMap(kind => names[`${kind}s`])
  throw new UsageError(
    `There is no \`${shown(name, 40)}\`. There is: ${all.map(each => shown(each, 40)).join(', ')}`,
  )
}

/** Shows a run, has its questions answered, and goes on with it. */
async function follow(client: Client, first: RunEvents, options: Options, screen: Screen): Promise<number> {
  for (let events = first; ; ) {
    const printer = new RunPrinter(screen)
    let requests: readonly InputRequest[] = []
    for await (const event of events) {
      if (options.json === true) await screen.json({ id: events.lastEventId, event })
      else await printer.print(event)
      if (event.type === 'finish') requests = event.requests ?? []
      if (event.type === 'error') return await printer.finishLine().then(() => EXIT.failed)
    }
    await printer.finishLine()
    const { runId = '' } = events
    if (requests.length === 0) return EXIT.ok
    const next = await answered(client, runId, requests, options, screen)
    if (next === undefined) return EXIT.ok
    events = next
  }
}

/** Has all requests answered. Undefined if nobody can be asked. */
async function answered(
  client: Client,
  runId: string,
  requests: readonly InputRequest[],
  options: Options,
  screen: Screen,
): Promise<RunEvents | undefined> {
  const approves = options.approve === true && requests.every(({ kind }) => kind === 'approval')
  if (!approves && !process.stdin.isTTY) {
    screen.note(`The run waits, and nobody can be asked here. Its id: ${shown(runId)}`)
    screen.note('Answer it in the console, or run it again in a terminal. With --approve calls are approved')
    return undefined
  }
  while (true) {
    const answers: Answer[] = []
    for (const request of requests)
      answers.push(approves ? { id: request.id, decision: 'approve' } : await askPerson(request))
    try {
      const { next } = await client.runs.answer(runId, answers)
      return next?.stream()
    } catch (error) {
      // The service tells what is wrong with a value.
      if (approves || !(error instanceof ServableClientError) || error.status !== 400) throw error
      screen.note(shown(error.message, 500))
    }
  }
}

async function askPerson(request: InputRequest): Promise<Answer> {
  const { id, kind, message, toolName = '', args, schema, url } = request
  const prompt = createInterface({ input: process.stdin, output: process.stderr })
  try {
    if (kind === 'question') {
      const said = await prompt.question(`${shown(message ?? id, url === undefined ? 500 : 4000)} `)
      return { id, value: parsed(said, schema) }
    }
    const what =
      kind === 'approval'
        ? `Run ${shown(toolName, 100)} ${shown(JSON.stringify(args) ?? '', 500)}?`
        : toolName
    if (kind === 'client_tool')
      return { id, result: parsed(await prompt.question(`The result of ${what}: `), {}) }
    const said = (await prompt.question(`${message ? `${shown(message, 500)}. ` : ''}${what} [y/N] `)).trim()
    return /^y(es)?$/i.test(said) ? { id, decision: 'approve' } : { id, decision: 'deny' }
  } finally {
    prompt.close()
  }
}

/** The text as it is where the schema takes text, else as JSON if it is some. */
function parsed(said: string, schema: unknown): unknown {
  if ((schema as { readonly type?: unknown } | undefined)?.type === 'string') return said
  try {
    return JSON.parse(said)
  } catch {
    return said
  }
}

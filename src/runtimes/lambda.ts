/**
 * AWS Lambda: function URLs and REST APIs that stream, and API Gateway and load balancers that do not.
 *
 * @module
 */

import { ServableError } from '../base/errors.ts'
import type { Core } from '../core/built-in.ts'
import { coreOf } from '../core/handler.ts'
import { platform } from '../http/platform.ts'
import { problemResponse } from '../web/problem.ts'
import { addressOf, checkEvent, type HttpEvent, requestOf, takesNoStream } from './lambda/event.ts'
import { createInvocation, type Invocation, type LambdaContext } from './lambda/invocation.ts'
import { collect, type Head, headOf, type ResponseStream, type Result, stream } from './lambda/result.ts'
import { checkHandler, checkServerless, type Fetch } from './server.ts'
import { logStarted } from './started.ts'

export type { Fetch }

/** How the function answers. */
export interface LambdaOptions {
  /**
   * Whether answers are streamed, as function URLs with the invoke mode `RESPONSE_STREAM` and REST APIs with the response transfer mode
   * `STREAM` take them. `false` for HTTP APIs, for load balancers, and for those two without these modes. Default: whether the runtime
   * can, as Lambda's own runtimes of Node do.
   */
  readonly streams?: boolean
}

/** What Lambda calls: with an event, the stream of the answer if it streams, and the context. */
export type LambdaFunction = (event: unknown, ...rest: readonly unknown[]) => Promise<unknown>

/** The global of Lambda's runtimes of Node. */
interface LambdaGlobal {
  streamifyResponse(
    answer: (event: unknown, to: ResponseStream, context: LambdaContext) => Promise<void>,
  ): LambdaFunction
  readonly HttpResponseStream: { from(to: ResponseStream, head: Head): ResponseStream }
}

/**
 * Makes the function that Lambda calls. Lambda freezes the process between calls. A call that streams lasts until its runs, those in the
 * background too, and what `waitUntil` was given have ended, at most until a second before the function's time limit. One that
 * does not stream ends with its answer. Lambda does not tell when a client leaves. Throws `invalid_options`.
 *
 * @example
 * export const handler = lambda(createHandler({ agents, state: postgresState({ url }) }))
 */
export function lambda(handler: Fetch, options: LambdaOptions = {}): LambdaFunction {
  checkHandler(handler, 'lambda', 'lambda(createHandler({ agents: { … } }))')
  checkServerless(handler)
  const core = coreOf(handler)
  const { awslambda: runtime } = globalThis as { readonly awslambda?: Partial<LambdaGlobal> }
  const { streams = runtime?.streamifyResponse !== undefined } = checked(options)
  if (core?.mounted.some(({ name }) => name === 'eventSocket')) {
    throw wrong(
      'the event socket needs connections that outlive a call: serve it with `serve` of `servable/node`',
    )
  }
  let hasBegun = false
  const begin = () => {
    if (!hasBegun && core !== undefined) logStarted(handler)
    hasBegun = true
  }
  const calls: Calls = { handler, core, begin }
  if (!streams) return buffered(calls)
  if (!runtime?.streamifyResponse || !runtime.HttpResponseStream) {
    throw wrong('`streams` needs the global `awslambda` of Lambda’s runtimes of Node')
  }
  return streamed(calls, runtime as LambdaGlobal)
}

/** What both kinds of calls need. */
interface Calls {
  readonly handler: Fetch
  readonly core: Core | undefined
  /** Called with each call. */
  readonly begin: () => void
}

function streamed({ handler, core, begin }: Calls, runtime: LambdaGlobal): LambdaFunction {
  return runtime.streamifyResponse(async (sent, to, context) => {
    const event = checkEvent(sent)
    if (takesNoStream(event)) {
      throw wrong(
        'HTTP APIs and load balancers take no stream: give `lambda` the option `{ streams: false }`',
      )
    }
    begin()
    const invocation = createInvocation(context)
    try {
      const hold = invocation.hold
      const response = await answer(handler, event, invocation, hold)
      await stream(
        response.body,
        runtime.HttpResponseStream.from(to, headOf(response, hasLists(event))),
        invocation,
      )
      await invocation.settled(core)
    } finally {
      invocation.end()
    }
  })
}

function buffered({ handler, core, begin }: Calls): LambdaFunction {
  let hasWarned = false
  const warn = () => {
    if (hasWarned || core === undefined || core.working.size === 0) return
    hasWarned = true
    core.log({
      level: 'warn',
      event: 'lambda.frozen',
      message:
        'A run is at work after its answer, and the function is frozen: it goes on in another process, or with a later call. ' +
        'Stream the answers (`streams` of `lambda`), so that a call lasts until its runs have ended',
    })
  }
  return async (sent, context) => {
    const event = checkEvent(sent)
    begin()
    const invocation = createInvocation(context as LambdaContext)
    try {
      const response = await answer(handler, event, invocation)
      const result = await collect(response, hasLists(event), invocation.signal)
      warn()
      return result ?? ((await collect(tooLarge(), hasLists(event), invocation.signal)) as Result)
    } finally {
      invocation.end()
    }
  }
}

/** Whether the sender reads headers as lists: all but payload format 2.0. */
const hasLists = ({ rawPath }: HttpEvent): boolean => rawPath === undefined

/** Asks the handler. A request that cannot be made is answered here. */
async function answer(
  handler: Fetch,
  event: HttpEvent,
  { signal }: Invocation,
  hold?: (work: Promise<unknown>) => void,
): Promise<Response> {
  let request: Request
  try {
    request = requestOf(event, signal)
  } catch (error) {
    return problem(error)
  }
  const told = { ip: addressOf(event), isIsolated: true, waitUntil: hold, keepAlive: hold }
  return handler(request, platform(told))
}

const tooLarge = () =>
  problem(
    new ServableError(
      'unsupported_operation',
      'The answer is larger than 4.5 MB, the most that this function can send at once',
    ),
  )

const problem = (error: unknown): Response =>
  problemResponse(error, { requestId: crypto.randomUUID(), production: true })

function checked(options: LambdaOptions): LambdaOptions {
  const { streams, ...others } = Object(options) as LambdaOptions
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw wrong(`\`${unknown}\` is not an option: use \`streams\``)
  if (streams !== undefined && typeof streams !== 'boolean') throw wrong('`streams` must be true or false')
  return options
}

function wrong(what: string): ServableError {
  return new ServableError('invalid_options', `lambda: ${what}`)
}

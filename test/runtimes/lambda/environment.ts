/**
 * An environment of Lambda: AWS's own runtime client in a process, with the runtime API that it asks, behind a function URL. It has one call
 * at a time. Between calls its process is frozen, and a call that is too long kills it.
 */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import process from 'node:process'
import { json } from 'node:stream/consumers'
import type { HttpEvent } from '../../../src/runtimes/lambda/event.ts'
import type { Result } from '../../../src/runtimes/lambda/result.ts'
import { type Listening, listening } from '../../listening.ts'
import type { Runtime } from '../harness.ts'
import { type Started, start } from '../process.ts'
import { eventOf, responder } from './function-url.ts'

export interface EnvironmentOptions {
  /** The file of the runtime client. */
  readonly client: string
  /** The folder of the function. */
  readonly task: string
  /** The file and the name of the function. Default: `index.handler`. */
  readonly handler?: string
  readonly env?: Readonly<Record<string, string>>
  /** Milliseconds that a call may take. Default: a minute. */
  readonly limitMs?: number
}

export interface Environment extends Runtime {
  /** Whether it waits for a call. */
  readonly isFrozen: boolean
  signal(signal: NodeJS.Signals): void
}

/** A call that waits, or is at work. */
interface Call {
  readonly id: string
  readonly event: HttpEvent
  readonly response: ServerResponse
}

const API = '/2018-06-01/runtime'

/** How the client says that an answer is a stream, and that it has failed midway. */
const MODE = 'lambda-runtime-function-response-mode'
const FAILED = 'lambda-runtime-function-error-type'

/** Starts an environment, which is frozen once it has begun. */
export async function startEnvironment(options: EnvironmentOptions): Promise<Environment> {
  const { client, task, handler = 'index.handler', env = {}, limitMs = 60_000 } = options
  const waiting: Call[] = []
  let current: Call | undefined
  /** Answers the client, which waits for a call. */
  let give: ((call: Call) => void) | undefined
  let started: Started | undefined
  let limit: NodeJS.Timeout | undefined

  const signal = (name: NodeJS.Signals) => {
    if (started !== undefined) process.kill(started.pid, name)
  }
  const next = () => {
    const call = give === undefined ? undefined : waiting.shift()
    if (call === undefined) return
    signal('SIGCONT')
    current = call
    limit = setTimeout(() => void started?.kill(), limitMs)
    give?.(call)
    give = undefined
  }
  const api = createServer(async (request, response) => {
    const { url = '' } = request
    if (url === `${API}/invocation/next`) {
      clearTimeout(limit)
      give = ({ id, event }) => {
        const headers = {
          'content-type': 'application/json',
          'lambda-runtime-aws-request-id': id,
          'lambda-runtime-deadline-ms': String(Date.now() + limitMs),
          'lambda-runtime-invoked-function-arn': 'arn:aws:lambda:eu-north-1:000000000000:function:agents',
        }
        response.writeHead(200, headers).end(JSON.stringify(event))
      }
      if (waiting.length === 0) signal('SIGSTOP')
      return next()
    }
    if (current !== undefined && url === `${API}/invocation/${current.id}/response`)
      await passOn(request, current.response)
    else if (current !== undefined && url === `${API}/invocation/${current.id}/error`)
      current.response.writeHead(502).end()
    response.writeHead(202).end()
  })
  const { port, stop: stopApi }: Listening = await listening(api)
  const front = await listening(
    createServer(async (request, response) => {
      waiting.push({ id: crypto.randomUUID(), event: await eventOf(request), response })
      next()
    }),
  )
  started = await start({
    command: process.execPath,
    args: [client, handler],
    cwd: task,
    until: /ready/,
    env: {
      AWS_LAMBDA_RUNTIME_API: `127.0.0.1:${port}`,
      AWS_LAMBDA_FUNCTION_NAME: 'agents',
      AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
      AWS_LAMBDA_FUNCTION_MEMORY_SIZE: '512',
      AWS_LAMBDA_LOG_GROUP_NAME: '/aws/lambda/agents',
      AWS_LAMBDA_LOG_STREAM_NAME: 'of the test',
      LAMBDA_TASK_ROOT: task,
      _HANDLER: handler,
      ...env,
    },
  })
  const { pid, log, stop, kill } = started
  const ending = (end: () => Promise<void>) => async () => {
    clearTimeout(limit)
    // A process that is frozen does not end by itself.
    if (!/^exited with/m.test(log())) signal('SIGCONT')
    await Promise.all([end(), front.stop(), stopApi()])
  }
  return {
    runtime: 'node',
    url: front.url,
    pid,
    log,
    signal,
    stop: ending(stop),
    kill: ending(kill),
    get isFrozen() {
      return give !== undefined && waiting.length === 0
    },
  }
}

/** Passes an answer on: as it comes if it is streamed. */
async function passOn(answer: IncomingMessage, to: ServerResponse): Promise<void> {
  if (answer.headers[MODE] !== 'streaming') {
    const { statusCode, headers, cookies, body, isBase64Encoded } = (await json(answer)) as Result
    to.writeHead(statusCode, { ...headers, ...(cookies.length > 0 && { 'set-cookie': [...cookies] }) })
    to.end(Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8'))
    return
  }
  const { write, end } = responder(to)
  for await (const bytes of answer) write(bytes)
  if ((answer.trailers as IncomingHttpHeaders)[FAILED] === undefined) end()
  else if (to.headersSent) to.destroy()
  else to.writeHead(502).end()
}

import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export interface Started {
  /** The match of the ready line. */
  ready: RegExpExecArray
  /** The id of the supervisor, whose only child is the process. */
  pid: number
  /** Ends the process and everything that it started, and waits until they are gone. */
  stop(): Promise<void>
  /** The same at once, without asking the process to end. */
  kill(): Promise<void>
  /** The output so far, both streams in one. */
  log(): string
}

export interface Command {
  command: string
  args: string[]
  /** The pattern of the ready line. */
  until: RegExp
  env?: Record<string, string>
  cwd?: string
  startMs?: number
}

export const root: string = fileURLToPath(new URL('../../', import.meta.url))

const supervisor = fileURLToPath(new URL('supervise.ts', import.meta.url))

/** Where Node keeps what it has compiled: most of the work of a start is to compile the same modules. */
const compiled = fileURLToPath(new URL('../../node_modules/.cache/compiled', import.meta.url))

// The test runner's own variables would change the served program. With coverage, it says that no process keeps what it compiles.
const ofTheRunner =
  /^(VITEST.*|NODE_ENV|NODE_OPTIONS|NODE_V8_COVERAGE|NODE_DISABLE_COMPILE_CACHE|TEST|DEV|PROD|SSR|MODE|BASE_URL)$/

function environment(extra: Record<string, string> = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !ofTheRunner.test(name))
  return { ...Object.fromEntries(kept), NODE_COMPILE_CACHE: compiled, ...extra }
}

/** Starts a real process and waits for its ready line, for at most `startMs`. */
export async function start(options: Command): Promise<Started> {
  const child = spawn(process.execPath, [supervisor, options.command, ...options.args], {
    cwd: options.cwd ?? root,
    env: environment(options.env),
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true,
  })
  let output = ''
  const closed = new Promise<void>(resolve => child.once('close', () => resolve()))
  const stop = async () => {
    child.stdin?.destroy()
    await closed
  }
  const kill = async () => {
    child.kill('SIGUSR2')
    await closed
  }
  const log = () => output
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text
      child.emit('output')
    })
  }
  try {
    return { ready: await readyLine(child, options, log), pid: child.pid ?? 0, stop, kill, log }
  } catch (error) {
    await stop()
    throw error
  }
}

function readyLine(child: ChildProcess, options: Command, log: () => string): Promise<RegExpExecArray> {
  const startMs = options.startMs ?? 60_000
  const name = [options.command, ...options.args].join(' ')
  const { promise, resolve, reject } = Promise.withResolvers<RegExpExecArray>()
  const fail = (what: string) => reject(new Error(`${name}: ${what}; its output:\n${log()}`))
  const timer = setTimeout(() => fail(`not ready within ${startMs} ms`), startMs)
  const look = () => {
    const found = options.until.exec(log())
    if (found) resolve(found)
  }
  const ended = () => fail('ended before it was ready')
  child.on('output', look)
  child.once('close', ended)
  return promise.finally(() => {
    clearTimeout(timer)
    child.off('output', look)
    child.off('close', ended)
  })
}

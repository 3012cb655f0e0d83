import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { endGroup, signalGroup } from './groups.ts'

export interface Started {
  /** The match of the ready line. */
  ready: RegExpExecArray
  /** Its id, which is that of its group too. */
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

const endGroups = fileURLToPath(new URL('end-groups.sh', import.meta.url))

/**
 * Where Node keeps what it has compiled: most of the work of a start is to compile the same modules. It is beside the packages of the
 * folder, so that it goes with a folder that a test installs.
 */
const compiledIn = (folder: string) => join(folder, 'node_modules/.cache/compiled')

/** Where it is for what runs in the repository. */
export const COMPILED: string = compiledIn(root)

// The test runner's own variables would change the served program. With coverage, it says that no process keeps what it compiles.
const ofTheRunner =
  /^(VITEST.*|NODE_ENV|NODE_OPTIONS|NODE_V8_COVERAGE|NODE_DISABLE_COMPILE_CACHE|TEST|DEV|PROD|SSR|MODE|BASE_URL)$/

function environment({ env, cwd = root }: Command): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !ofTheRunner.test(name))
  return { ...Object.fromEntries(kept), NODE_COMPILE_CACHE: compiledIn(cwd), ...env }
}

/** Takes the groups that are to end with this process. */
let groups: Writable | undefined

/** Adds a group (`+`), or removes one that has ended (`-`). */
function note(change: '+' | '-', id: number): void {
  groups ??= startEndingGroups()
  groups.write(`${change}${id}\n`)
}

/** Starts a process that outlives this one, and ends the groups that it is told of. */
function startEndingGroups(): Writable {
  const child = spawn('sh', [endGroups], { stdio: ['pipe', 'ignore', 'inherit'], detached: true })
  child.unref()
  // Else it would keep this process alive. In Node it is a socket.
  ;(child.stdin as Socket).unref()
  return child.stdin
}

/** Starts a real process, which leads a group of its own, and waits for its ready line, for at most `startMs`. */
export async function start(options: Command): Promise<Started> {
  const child = spawn(options.command, options.args, {
    cwd: options.cwd ?? root,
    env: environment(options),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const { pid = 0 } = child
  let output = ''
  const add = (text: string) => {
    output += text
    child.emit('output')
  }
  child.on('error', error => add(`could not start: ${error.message}\n`))
  const log = () => output
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', add)
  const closed = new Promise<void>(resolve => child.once('close', () => resolve()))
  let isOver: Promise<void> | undefined
  /** Ends the group, and waits until nobody has its output open. */
  const over = () => {
    isOver ??= pid === 0 ? Promise.resolve() : Promise.all([endGroup(pid), closed]).then(() => note('-', pid))
    return isOver
  }
  if (pid !== 0) note('+', pid)
  child.once('exit', (code, signal) => {
    add(`exited with ${signal ?? `code ${code}`}\n`)
    over()
  })
  const kill = () => {
    // Once it has exited, its id may be another's.
    if (child.exitCode === null && child.signalCode === null) signalGroup(pid, 'SIGKILL')
    return over()
  }
  try {
    return { ready: await readyLine(child, options, log), pid, stop: over, kill, log }
  } catch (error) {
    await over()
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

/**
 * `servable dev`: serves the agents of a file or a folder, and takes their new code when it changes.
 *
 * @module
 */

import { type ChildProcess, fork, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import process from 'node:process'
import { shown, shownLines } from '../../features/logs/shown.ts'
import type { ServeOptions } from '../../runtimes/server.ts'
import type { Screen } from '../screen.ts'
import { EXIT, type Options, UsageError } from '../service.ts'
import type { Heard, Told } from './dev-process.ts'
import { addressOf, SERVES } from './serving.ts'
import { watchSources } from './watch.ts'

/** Milliseconds after which a file that still loads is named. */
const LOAD_MS = 5000

/** Milliseconds that runs have after a change, and after Ctrl-C. Then the process dies, and what can goes on elsewhere. */
const CHANGE_GRACE_MS = 60_000
const LEAVE_GRACE_MS = 1500

/** Serves until Ctrl-C or SIGTERM. `program` is the file of the command. Returns the exit code. */
export async function devCommand(
  path: string | undefined,
  options: Options,
  { screen, program }: { readonly screen: Screen; readonly program: string },
): Promise<number> {
  const cwd = process.cwd()
  if (path !== undefined && !existsSync(resolve(cwd, path)))
    throw new UsageError(`There is no ${path}: give the file or the folder with your agents`)
  const server = new DevServer({
    path,
    program,
    screen,
    address: addressOf(options),
    opens: options.open === true,
  })
  const stopWatching = await watchSources(cwd, () => server.load())
  const leave = () => server.leave()
  process.on('SIGINT', leave).on('SIGTERM', leave)
  try {
    server.load()
    return await server.ended
  } finally {
    process.off('SIGINT', leave).off('SIGTERM', leave)
    stopWatching()
  }
}

interface Setting {
  readonly path: string | undefined
  readonly program: string
  readonly screen: Screen
  readonly address: Required<ServeOptions>
  readonly opens: boolean
}

/** One process serves. After a change another one loads the new code, and takes the address if it can. */
class DevServer {
  readonly #setting: Setting
  /** The process that serves or is about to. */
  #serving: ChildProcess | undefined
  #loading: ChildProcess | undefined
  /** All processes, also those that only end their runs. */
  readonly #alive = new Set<ChildProcess>()
  #hasServed = false
  #isLeaving = false
  #end: (code: number) => void = () => {}
  readonly ended: Promise<number>

  constructor(setting: Setting) {
    this.#setting = setting
    this.ended = new Promise(resolve => {
      this.#end = resolve
    })
  }

  /** Loads the code as it is now. What serves goes on until that has worked. */
  load(): void {
    if (this.#isLeaving) return
    this.#loading?.kill('SIGKILL')
    const { path, program, address, screen } = this.#setting
    const child = fork(program, [], { env: { ...process.env, [SERVES]: 'yes' }, stdio: 'inherit' })
    this.#loading = child
    this.#alive.add(child)
    const slow = setTimeout(() => {
      screen.note(
        'The code is still loading after 5 s. Does it wait for something, or loop, while it is imported?',
      )
    }, LOAD_MS)
    child.on('message', (heard: Heard) => {
      clearTimeout(slow)
      this.#hear(child, heard)
    })
    child.on('exit', () => {
      clearTimeout(slow)
      this.#left(child)
    })
    tell(child, { type: 'load', path, address })
  }

  /** Ends all processes. The second time they die at once. */
  leave(): void {
    if (this.#isLeaving) for (const child of this.#alive) child.kill('SIGKILL')
    this.#isLeaving = true
    for (const child of this.#alive) this.#close(child, LEAVE_GRACE_MS)
    if (this.#alive.size === 0) this.#end(EXIT.ok)
  }

  #hear(child: ChildProcess, heard: Heard): void {
    if (heard.type === 'loaded' && child === this.#loading) this.#replace(child)
    else if (heard.type === 'serves') this.#welcome(heard)
    else if (heard.type === 'failed') {
      const goesOn = child !== this.#serving && this.#serving !== undefined
      this.#setting.screen.note(
        `servable: ${shownLines(heard.text)}${goesOn ? '\nThe code from before still serves' : ''}`,
      )
      // Nothing is left to say of a process that ends the command.
      this.#isLeaving ||= heard.isFinal
      if (heard.isFinal) this.#end(EXIT.usage)
      child.kill('SIGKILL')
    }
  }

  #replace(child: ChildProcess): void {
    const before = this.#serving
    this.#loading = undefined
    this.#serving = child
    const listen = () => {
      before?.off('exit', listen).off('message', listen)
      if (child === this.#serving) tell(child, { type: 'listen', isFirst: !this.#hasServed })
    }
    if (before === undefined) return listen()
    // The only message after `close` says that it no longer listens.
    before.once('exit', listen).once('message', listen)
    this.#close(before, CHANGE_GRACE_MS)
  }

  #close(child: ChildProcess, graceMs: number): void {
    tell(child, { type: 'close' })
    const timer = setTimeout(() => child.kill('SIGKILL'), graceMs)
    child.once('exit', () => clearTimeout(timer))
  }

  #left(child: ChildProcess): void {
    this.#alive.delete(child)
    if (this.#isLeaving) {
      if (this.#alive.size === 0) this.#end(EXIT.ok)
      return
    }
    if (child === this.#loading) this.#loading = undefined
    if (child === this.#serving) {
      this.#serving = undefined
      this.#setting.screen.note('The service has stopped. It starts again when a file changes')
    }
  }

  #welcome({ url, first, stateFile, missing }: Extract<Heard, { type: 'serves' }>): void {
    const { screen, opens } = this.#setting
    const { note } = screen
    for (const name of missing) note(`${name} is not set. Write the line ${name}=… into the file .env`)
    if (this.#hasServed) return note('The new code serves')
    this.#hasServed = true
    const agent = `${url}/${shown(first)}/run`
    note(`\n  console   ${url}/console`)
    note(`  ask       curl ${agent} -H 'content-type: application/json' -d '{"input": "Hello"}'`)
    if (stateFile !== undefined) note(`  state     ${stateFile}`)
    note('  stop      Ctrl-C\n')
    if (opens) openPage(`${url}/console`)
  }
}

function tell(child: ChildProcess, told: Told): void {
  if (child.connected) child.send(told)
}

/** Opens a page in the browser of this machine. Does nothing if there is none. */
function openPage(url: string): void {
  const [program = '', ...before] =
    process.platform === 'darwin'
      ? ['open']
      : process.platform === 'win32'
        ? ['cmd', '/c', 'start', '""']
        : ['xdg-open']
  spawn(program, [...before, url], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref()
}

/**
 * Loads the agents and the options of a folder: `loadAgents` and `loadConfig`. Every failure is a {@link UsageError} that names the
 * file and the fix.
 *
 * @module
 */

import { readdir, stat } from 'node:fs/promises'
import { basename, join, relative, resolve } from 'node:path'
import process from 'node:process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { isFrameworkAgent, toAgent } from '../adapters/frameworks/to-agent.ts'
import type { Servable } from '../agents/contract.ts'
import { defaultRegistry, KINDS } from '../agents/registry.ts'
import type { HandlerOptions } from '../options.ts'
import { UsageError } from './service.ts'

/** The agents of a file or a folder. */
export interface LoadedAgents {
  /** What the files export, and what they register. */
  readonly agents: readonly Servable[]
  /** The files, relative to the folder. */
  readonly files: readonly string[]
}

/** Where agents are looked for, in this order, if no path is given. */
const DEFAULT_PATHS = ['agents.ts', 'agents.js', 'agents.mjs', 'agents', 'src/agents.ts', 'src/agents']

const CONFIG_NAMES = ['servable.config.ts', 'servable.config.js', 'servable.config.mjs']

/** Files with code, but for tests and declarations. */
const IS_CODE = /(?<!\.d|\.test|\.spec)\.(ts|mts|js|mjs)$/

/** Most files of a folder. */
const MAX_FILES = 500

/**
 * Loads the agents, teams and workflows that a file exports or registers; of a folder, those of its files. Agents of other frameworks
 * are adapted, and have the name of the export unless they have one. A folder may have none if its options name some.
 */
export async function loadAgents(path: string | undefined, cwd: string): Promise<LoadedAgents> {
  const files = await filesAt(path, cwd)
  const found = new Map<string, readonly [agent: Servable, file: string]>()
  const add = (agent: Servable, file: string) => {
    const key = `${agent.kind} \`${agent.name}\``
    const [before, where = file] = found.get(key) ?? []
    if (before !== undefined && before !== agent)
      throw new UsageError(
        `There are two of the name ${key}: in ${[...new Set([where, file])].join(' and in ')}. Rename one of them`,
      )
    found.set(key, [agent, where])
  }
  for (const agent of registered()) add(agent, 'the options')
  for (const file of files) {
    const exported = await importFile(join(cwd, file), file)
    for (const agent of agentsIn(exported, file)) add(agent, file)
    for (const agent of registered()) add(agent, file)
  }
  return { agents: [...found.values()].map(([agent]) => agent), files }
}

/** Loads the default export of `servable.config.ts`, `.js` or `.mjs`. Without such a file there are no options. */
export async function loadConfig(cwd: string): Promise<HandlerOptions> {
  for (const name of CONFIG_NAMES) {
    if (!(await isFile(join(cwd, name)))) continue
    const { default: options } = await importFile(join(cwd, name), name)
    if (typeof options === 'object' && options !== null) return options
    throw new UsageError(`${name} needs a default export: \`export default { … } satisfies HandlerOptions\``)
  }
  return {}
}

async function filesAt(path: string | undefined, cwd: string): Promise<string[]> {
  for (const each of path === undefined ? DEFAULT_PATHS : [path]) {
    const absolute = resolve(cwd, each)
    const found = await stat(absolute).catch(() => undefined)
    if (found === undefined) continue
    return (found.isDirectory() ? await filesIn(absolute) : [absolute]).map(file => relative(cwd, file))
  }
  if (path !== undefined)
    throw new UsageError(`There is no ${path}: give the file or the folder with your agents`)
  return []
}

async function filesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: Error) => {
    throw new UsageError(`${folder} cannot be read: ${error.message}`)
  })
  const files = names.filter(name => IS_CODE.test(name)).toSorted()
  if (files.length > MAX_FILES)
    throw new UsageError(`${folder} has more than ${MAX_FILES} files: name one of them`)
  return files.map(name => join(folder, name))
}

const isFile = async (path: string) => (await stat(path).catch(() => undefined))?.isFile() === true

function registered(): Servable[] {
  return KINDS.flatMap(kind => defaultRegistry().all(kind))
}

/** What a module exports that is an agent: by name, in a list, or in an object that is the default export. */
function agentsIn(exported: Readonly<Record<string, unknown>>, file: string): Servable[] {
  return Object.entries(exported).flatMap(([name, value]) => {
    if (Array.isArray(value)) return value.flatMap(each => agentOf(each, undefined, file))
    const found = agentOf(value, name === 'default' ? basename(file).replace(/\.\w+$/, '') : name, file)
    if (found.length > 0 || name !== 'default' || Object.getPrototypeOf(Object(value)) !== Object.prototype)
      return found
    return Object.entries(value as object).flatMap(([key, each]) => agentOf(each, key, file))
  })
}

function agentOf(value: unknown, name: string | undefined, file: string): Servable[] {
  if (!isFrameworkAgent(value)) return []
  const { name: own, id } = value as { readonly name?: unknown; readonly id?: unknown }
  const isNamed = (typeof own === 'string' && own !== '') || (typeof id === 'string' && id !== '')
  try {
    return [toAgent(value, isNamed || name === undefined ? undefined : { name })]
  } catch (error) {
    throw new UsageError(`${file}: \`${name ?? 'an agent'}\` cannot be served: ${(error as Error).message}`)
  }
}

/** Imports a file. A failure says what to do. */
async function importFile(path: string, shown: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return await import(pathToFileURL(path).href)
  } catch (error) {
    const advice = adviceFor(error)
    const at = placeOf(error)
    throw new UsageError(`${shown} cannot be loaded: ${advice}${at === undefined ? '' : ` (${at})`}`, {
      cause: error,
    })
  }
}

/** The reason of a failed import, and the fix where it is known. */
function adviceFor(error: unknown): string {
  const { code, message, name } = Object(error) as Partial<Record<'code' | 'message' | 'name', string>>
  const text = message ?? String(error)
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION')
    return `this is Node ${process.versions.node}, and Node reads TypeScript from 22.18 on`
  if (code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX' || /not supported in strip-only mode/.test(text))
    return `${text}. Node only removes types: write no enums, namespaces, parameter properties or decorators, or use Bun or Deno`
  const [, missing] = /Cannot find (?:package|module) ['"]([^'"]+)['"]/.exec(text) ?? []
  if (missing !== undefined)
    return /^[./]|^file:/.test(missing)
      ? /\.\w{1,9}$/.test(missing)
        ? text
        : `${text}. An import of a file needs its ending, such as './tools.ts'`
      : `the package \`${missing}\` is not installed. Install it: npm install ${missing}`
  const key = keyIn(text)
  if (key !== undefined) return `${text}. Write the line ${key}=… into the file .env, or set the variable`
  return name && name !== 'Error' ? `${name}: ${text}` : text
}

/** The folder with this package's code. */
const OWN = fileURLToPath(new URL('..', import.meta.url))

/** Longest line of a stack that is read. */
const MAX_LINE = 2000

/** The line of the user's code that failed: `agents.ts:7`, relative to the current folder. A stack may name it before its message. */
function placeOf(error: unknown): string | undefined {
  const [first = '', ...others] = String(Object(error).stack ?? '').split('\n', 50)
  for (const line of [`    at ${/^file:/.test(first) ? first : ''}`, ...others]) {
    // Bun writes paths, and the others addresses.
    const [, place = '', at] =
      line.length > MAX_LINE
        ? []
        : (/^\s+at (?:[^/]*[\s(])?((?:file:\/\/|\/).+?):(\d+)(?::\d+)?\)?$/.exec(line) ?? [])
    const path = place.startsWith('file:') ? fileURLToPath(place) : place
    if (path !== '' && !path.startsWith(OWN)) return `${relative(process.cwd(), path)}:${at}`
  }
  return undefined
}

/** The variable for the key that an error of a provider's package misses. */
export function keyIn(text: string): string | undefined {
  if (!/missing|not set|required|must be set|no api key/i.test(text)) return undefined
  return /\b[A-Z][A-Z\d]{0,30}(?:_[A-Z\d]{1,30}){0,5}_(?:KEY|TOKEN)\b/.exec(text)?.[0]
}

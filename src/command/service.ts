/**
 * The service that a command calls, and the exit codes for its failures.
 *
 * @module
 */

import { readFile } from 'node:fs/promises'
import process from 'node:process'
import { createInterface } from 'node:readline/promises'
import type { Kind } from '../agents/contract.ts'
import { ServableClientError } from '../client/error.ts'
import type { ClientOptions } from '../client/options.ts'
import { withOwner } from '../client/sent.ts'
import { keptToken } from './tokens.ts'

/** The exit codes. */
export const EXIT = {
  ok: 0,
  /** The run has not completed, or the service refused: not found, or not permitted. */
  failed: 1,
  /** The command is wrong. */
  usage: 2,
  /** The service cannot be reached, or its answer was cut off. */
  unreachable: 3,
  /** Ctrl-C. */
  left: 130,
} as const

/** An error in the command line, with its message. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Options of the command line, by name. */
export type Options = Readonly<Record<string, unknown>>

/** Tries of one request. More would keep a command silent for too long. */
const MAX_TRIES = 3

/** Most bytes of a token file. */
const MAX_TOKEN = 65_536

/** Returns the client's options for the service of the command line. Throws {@link UsageError}. */
export async function serviceOf(options: Options): Promise<ClientOptions> {
  const url = urlOf(options)
  const token = (await tokenOf(options)) ?? (await keptToken(url))
  const owner = textOf(options, 'owner')
  return {
    baseUrl: url,
    maxTries: MAX_TRIES,
    ...(token && { headers: { authorization: `Bearer ${token}` } }),
    ...(owner !== undefined && { fetch: request => fetch(withOwner(request, owner)) }),
  }
}

/** The address of the service, without a slash at its end. Throws {@link UsageError}. */
export function urlOf(options: Options): string {
  const url = textOf(options, 'url') ?? process.env.SERVABLE_URL
  if (url) return url.replace(/\/+$/, '')
  throw new UsageError('Give --url, or SERVABLE_URL: the service with its prefix, http://127.0.0.1:3000/api')
}

/** Reads the token for the service. It is never an argument, since other users of a machine can see those. */
async function tokenOf(options: Options): Promise<string | undefined> {
  const path = textOf(options, 'tokenFile')
  if (path === undefined) return process.env.SERVABLE_TOKEN
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new UsageError(`--token-file cannot be read: ${messageOf(cause)}`)
  })
  return checkedToken(text.trim(), '--token-file')
}

/** Throws {@link UsageError} for a text that is no token. `what` has the text. */
export function checkedToken(token: string, what: string): string {
  if (token !== '' && token.length <= MAX_TOKEN && !/[^\x21-\x7e]/.test(token)) return token
  throw new UsageError(`${what} must hold one token, and nothing else`)
}

/**
 * The text of an option, which the parser may have parsed as a number. Throws {@link UsageError} for an option that is given
 * twice.
 */
export function textOf(options: Options, name: string): string | undefined {
  const value = options[name]
  if (value === undefined) return undefined
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  throw new UsageError(`Give ${flagOf(name)} once, with a value`)
}

/** An option that is a whole number. Throws {@link UsageError}. */
export function numberOf(options: Options, name: string, min: number, max: number): number | undefined {
  const text = textOf(options, name)
  if (text === undefined) return undefined
  const value = Number(text)
  if (/^\d+$/.test(text) && value >= min && value <= max) return value
  throw new UsageError(`${flagOf(name)} must be a whole number from ${min} to ${max}`)
}

/** An option that is a time, as the service parses it: a date alone means its midnight in UTC. Throws {@link UsageError}. */
export function timeOf(options: Options, name: string): string | undefined {
  const text = textOf(options, name)
  if (text === undefined) return undefined
  const time = new Date(text)
  if (!Number.isNaN(time.getTime())) return time.toISOString()
  throw new UsageError(`${flagOf(name)} must be a time such as 2026-05-01T12:00:00Z`)
}

const KINDS: readonly Kind[] = ['agent', 'team', 'workflow']

/** The target of `--agent`, `--team` or `--workflow`. Throws {@link UsageError} for more than one. */
export function targetOf(options: Options): { readonly kind: Kind; readonly name: string } | undefined {
  const [target, second] = KINDS.flatMap(kind => {
    const name = textOf(options, kind)
    return name === undefined ? [] : [{ kind, name }]
  })
  if (second === undefined) return target
  throw new UsageError('Give one of --agent, --team and --workflow')
}

function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`
}

/** The message and exit code for an error. */
export function failureOf(error: unknown): { readonly text: string; readonly code: number } {
  if (error instanceof ServableClientError) return clientFailureOf(error)
  const isUsage = error instanceof UsageError || (error as { name?: unknown }).name === 'CACError'
  const text = messageOf(error)
  // The parser writes it so.
  const [, missing] = /^missing required args for command `(.+)`$/.exec(text) ?? []
  return {
    text: missing === undefined ? text : `The command is not complete: servable ${missing}`,
    code: isUsage ? EXIT.usage : EXIT.failed,
  }
}

/** Failures of the connection. */
const UNREACHABLE = new Set(['network_error', 'timeout', 'stream_broken', 'invalid_response'])

/** What a service says of a path that it does not have. */
const NO_ROUTE = 'Nothing is served at this path'

function clientFailureOf({ code, message, cause, requestId }: ServableClientError) {
  if (code === 'invalid_options') return { text: message, code: EXIT.usage }
  const isUnreachable = UNREACHABLE.has(code)
  const why = isUnreachable && cause !== undefined ? `: ${reasonOf(cause)}` : ''
  const hasNoService = code === 'invalid_response' || message === NO_ROUTE
  const hint = hasNoService ? '. Does the address have the prefix, such as /api?' : ''
  const request = requestId === undefined ? '' : `, request ${requestId}`
  return {
    text: `${message}${why}${hint} (${code}${request})`,
    code: isUnreachable ? EXIT.unreachable : EXIT.failed,
  }
}

/** The innermost cause, which names the problem: the error of `fetch` only says that it failed. */
function reasonOf(cause: unknown): string {
  let inner = cause
  for (let depth = 0; depth < 5 && inner instanceof Error && inner.cause !== undefined; depth++)
    inner = inner.cause
  return messageOf(inner)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message || error.name : String(error)
}

/** Asks for confirmation at the terminal. Throws {@link UsageError} without a terminal. */
export async function isWanted(question: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new UsageError('Nobody can be asked here: repeat with --yes')
  const prompt = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test((await prompt.question(question)).trim())
  } finally {
    prompt.close()
  }
}

/**
 * `servable login` and `servable logout`: keep the token for a service in a file that only its user may read.
 *
 * @module
 */

import process from 'node:process'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { createClient } from '../client/client.ts'
import { ServableClientError } from '../client/error.ts'
import type { Screen } from './screen.ts'
import { checkedToken, EXIT, type Options, serviceOf, urlOf } from './service.ts'
import { fileOfTokens, keep, kept } from './tokens.ts'

/** Reads a token, checks that the service takes it, and keeps it. Throws `UsageError` and the errors of the client. */
export async function loginCommand(options: Options, screen: Screen): Promise<number> {
  const url = urlOf(options)
  const given = (await readToken()).trim()
  const token = checkedToken(given, 'The token')
  const { headers: _, ...service } = await serviceOf({ ...options, tokenFile: undefined })
  const client = createClient({ ...service, headers: { authorization: `Bearer ${token}` } })
  try {
    await client.runs.list({ limit: 1 })
  } catch (error) {
    // A service may list no runs, and so answers `not_found`.
    if (!(error instanceof ServableClientError) || error.code !== 'not_found') throw error
  }
  await keep({ ...(await kept()), [url]: token })
  screen.note(`Logged in: the token for ${url} is in ${fileOfTokens()}`)
  return EXIT.ok
}

/** Forgets the token of a service. */
export async function logoutCommand(options: Options, screen: Screen): Promise<number> {
  const url = urlOf(options)
  const { [url]: token, ...others } = await kept()
  if (token === undefined) {
    screen.note(`There is no token for ${url}`)
    return EXIT.failed
  }
  await keep(others)
  screen.note(`Logged out of ${url}`)
  return EXIT.ok
}

/** Reads a line that is not shown, or what is piped. */
async function readToken(): Promise<string> {
  const { stdin: input, stderr } = process
  if (!input.isTTY) return text(input)
  const silent = new Writable({ write: (_, __, done) => done() })
  const lines = createInterface({ input, output: silent, terminal: true })
  stderr.write('Token: ')
  try {
    return await lines.question('')
  } finally {
    lines.close()
    stderr.write('\n')
  }
}

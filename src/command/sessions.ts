/**
 * `servable sessions`: exports turns, and deletes sessions.
 *
 * @module
 */

import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import process from 'node:process'
import { createCaller } from '../client/call.ts'
import { createClient } from '../client/client.ts'
import { ServableClientError } from '../client/error.ts'
import { queryOf } from '../client/sent.ts'
import { safeJson, shown, shownCount } from '../features/logs/shown.ts'
import type { Screen } from './screen.ts'
import { EXIT, isWanted, type Options, serviceOf, targetOf, textOf, timeOf, UsageError } from './service.ts'

/** Runs one action and returns the exit code. Throws {@link UsageError} and the errors of the client. */
export async function sessionsCommand(
  act: string,
  id: string | undefined,
  options: Options,
  screen: Screen,
): Promise<number> {
  if (act === 'export') return exportTurns(id, options, screen)
  if (act === 'delete') return deleteSession(id, options, screen)
  throw new UsageError(`\`sessions ${shown(act, 40)}\` is unknown: use export, delete`)
}

/** Exports turns as JSON lines: to stdout, or to a file that appears once it is complete. */
async function exportTurns(id: string | undefined, options: Options, screen: Screen): Promise<number> {
  if (id !== undefined) throw new UsageError('`sessions export` takes no id: use --agent, --since')
  const output = textOf(options, 'output')
  const query = queryOf({ ...targetOf(options), since: timeOf(options, 'since') })
  const caller = createCaller(await serviceOf(options))
  const lines = await caller.within({}, call => call.send(`/sessions/export${query}`))
  if (output === undefined) await copy(lines, text => screen.write(safeJson(text)), screen)
  else screen.note(`${shownCount(await writeFile(output, lines, screen), 'turn')} in ${shown(output)}`)
  return EXIT.ok
}

/** Writes to a temporary file and renames it, so that no reader finds a partial file. Returns the number of lines. */
async function writeFile(path: string, lines: Response, screen: Screen): Promise<number> {
  const part = `${path}.${randomUUID()}.part`
  const leave = () => {
    rmSync(part, { force: true })
    process.exit(EXIT.left)
  }
  process.once('SIGINT', leave)
  try {
    // Only the owner may read conversations.
    const file = await open(part, 'wx', 0o600)
    let count: number
    try {
      count = await copy(lines, text => file.appendFile(text), screen)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(part, path)
    return count
  } catch (error) {
    await rm(part, { force: true })
    throw error
  } finally {
    process.off('SIGINT', leave)
  }
}

/** Copies a whole answer and returns its number of lines. Throws `network_error` if the answer is cut off. */
async function copy(
  answer: Response,
  write: (text: string) => Promise<void>,
  screen: Screen,
): Promise<number> {
  const decoder = new TextDecoder()
  let count = 0
  let last = '\n'
  const take = async (text: string) => {
    if (text === '') return
    last = text.slice(-1)
    count += text.split('\n').length - 1
    await write(text)
    screen.progress(`${shownCount(count, 'turn')} …`)
  }
  for await (const bytes of bytesOf(answer)) await take(decoder.decode(bytes, { stream: true }))
  await take(decoder.decode())
  if (last === '\n') return count
  throw new ServableClientError('network_error', 'The export broke off in the middle of a line')
}

async function* bytesOf({ body }: Response): AsyncGenerator<Uint8Array> {
  if (body === null) return
  const reader = body.getReader()
  try {
    while (true) {
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw new ServableClientError('network_error', 'The export broke off', { cause })
      })
      if (done) return
      yield value
    }
  } finally {
    // Stops the download if the output cannot be written.
    await reader.cancel().catch(() => {})
  }
}

async function deleteSession(id: string | undefined, options: Options, screen: Screen): Promise<number> {
  const target = targetOf(options)
  if (!id || target === undefined)
    throw new UsageError(
      'Give the id of a session and whose it is: servable sessions delete <id> --agent <name>',
    )
  const client = createClient(await serviceOf(options))
  const what = `the session ${shown(id)} of ${target.kind} ${shown(target.name)}`
  if (options.yes !== true && !(await isWanted(`Delete ${what} with all its messages? [y/N] `))) {
    screen.note('Nothing was deleted')
    return EXIT.failed
  }
  const running = options.cancel === true ? ('cancel' as const) : undefined
  await client.sessions.delete(target, id, { ...(running && { running }) })
  if (options.json === true) await screen.json({ deleted: { ...target, id } })
  else await screen.line(`Deleted ${what}`)
  return EXIT.ok
}

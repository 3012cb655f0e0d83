/** `servable store prune`, on what services have stored. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { LocalState } from '../../src/core/local-state.ts'
import { Agent, createHandler, type RunsOptions } from '../../src/index.ts'
import { postgresState } from '../../src/runtimes/postgres.ts'
import { sqliteState } from '../../src/runtimes/sqlite.ts'
import { begin } from '../contracts/command.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { newFolder } from '../contracts/run-host/folder.ts'
import { eventually } from '../eventually.ts'
import { needing } from '../needing.ts'
import { turn } from '../support.ts'
import { type PostgresServer, startPostgres } from './postgres/server.ts'

const words = new Agent({
  name: 'words',
  register: false,
  async *run() {
    for (let index = 0; index < 500; index++) yield `word ${index} `
  },
})

/** A service on a state, whose runs are kept so long. */
function serviceOn(state: LocalState, runs: RunsOptions) {
  const handler = createHandler({ agents: { words }, state, runs })
  const ask = (path: string, init?: RequestInit) => handler(new Request(`http://localhost/api${path}`, init))
  const run = async (): Promise<string> => {
    const answer = await ask('/agents/words/run', jsonRequest({ input: 'x' }))
    expect(answer.status).toBe(200)
    return answer.headers.get('x-run-id') ?? ''
  }
  return { ask, run }
}

/** A state that is closed at the end of the test. */
function opened<S extends LocalState>(state: S): S {
  onTestFinished(async () => void (await state.store.close()))
  return state
}

/** Prunes, and gives the lines that the command prints. */
async function pruned(...args: string[]): Promise<string[]> {
  const { code, out, err } = await begin(['store', 'prune', ...args]).ended
  expect([code, err]).toEqual([0, ''])
  return out.trim().split('\n')
}

async function prunes(open: () => LocalState, ...where: string[]): Promise<void> {
  const { ask, run } = serviceOn(open(), { piecesMs: 1 })
  const id = await run()
  // Where it begins its run, the first one has not expired, and it folds only what is an hour old.
  const expired = await serviceOn(open(), { retentionMs: 1, piecesMs: 3_600_000 }).run()
  const text = async () => (await (await ask(`/runs/${id}`)).json()).result.text
  const before = await text()

  const dry = await pruned(...where, '--dry-run')
  expect(dry).toEqual([
    expect.stringMatching(/^1 expired runs would be deleted: 50\d rows, [\d,]{5,} bytes$/),
    // What was so many entries is a few.
    expect.stringMatching(/^1 ended runs would be folded: (?:49\d|500) rows, [\d,]{5,} bytes less$/),
    expect.stringMatching(/^[\d.]+ s, nothing was written$/),
  ])
  const done = await pruned(...where)
  const isDone = (line: string) => line.replaceAll('would be ', '')
  expect(done.slice(0, 2)).toEqual(dry.slice(0, 2).map(isDone))
  expect((await pruned(...where)).slice(0, 2)).toEqual([
    '0 expired runs deleted: 0 rows, 0 bytes',
    '0 ended runs folded: 0 rows, 0 bytes less',
  ])
  expect((await ask(`/runs/${expired}`)).status).toBe(404)
  expect(await text()).toBe(before)
  const events = await (await ask(`/runs/${id}/events`)).json()
  expect(events.events.length).toBeLessThan(5)
}

const RUNS = 40

/** Kills the command among its folds, while others follow the runs. Each stream stays as it was, from any event on. */
async function killedWhileItFolds(open: () => LocalState, ...where: string[]): Promise<void> {
  // Where these runs begin, nothing is due.
  const { run } = serviceOn(open(), { piecesMs: 1 })
  const ids: string[] = []
  while (ids.length < RUNS) ids.push(await run())
  const { ask } = serviceOn(open(), {})
  const numbersAndPieces = (text: string) =>
    [...text.matchAll(/^id: (\d+)\n(?:event: .*\n)?data: (.*)$/gm)].map(([, id, data]) => {
      const { type, text: piece } = JSON.parse(data ?? '')
      return [Number(id), type, piece]
    })
  const streamOf = async (id: string, after = 0) =>
    numbersAndPieces(await (await ask(`/runs/${id}/stream?after=${after}`)).text())
  const whole = await streamOf(ids[0]!)
  expect(whole.length).toBeGreaterThan(500)
  const isFolded = async (id: string) => (await (await ask(`/runs/${id}/events`)).json()).events.length < 10
  const folded = async () => (await Promise.all(ids.map(isFolded))).filter(Boolean).length

  const command = begin(['store', 'prune', ...where])
  let isOver = false
  const follow = async (first: number) => {
    for (let at = first; !isOver; at += 2) {
      const after = (at * 37) % 500
      // Else nothing but this is done: a file answers within the turn.
      await turn()
      expect(await streamOf(ids[at % RUNS]!, after)).toEqual(whole.slice(after))
    }
  }
  const followers = [follow(0), follow(1)]
  await eventually(async () => expect(await folded()).toBeGreaterThan(0))
  command.kill()
  await command.ended
  isOver = true
  await Promise.all(followers)
  const before = await folded()
  for (const id of ids) expect(await streamOf(id)).toEqual(whole)
  expect((await pruned(...where))[1]).toMatch(new RegExp(`^${RUNS - before} ended runs folded`))
  for (const id of ids) expect(await streamOf(id, 250)).toEqual(whole.slice(250))
}

describe('servable store prune', () => {
  it('loses nothing if it is killed among its folds, while others follow the runs', async () => {
    const folder = await newFolder()
    onTestFinished(() => folder.remove())
    const path = join(folder.path, 'killed.db')
    await killedWhileItFolds(() => opened(sqliteState({ path })), '--file', path)
  })

  it('deletes what has expired in a SQLite file, and folds what has ended, or says what it would do', async () => {
    const folder = await newFolder()
    onTestFinished(() => folder.remove())
    const path = join(folder.path, 'a b.db')
    await prunes(() => opened(sqliteState({ path })), '--file', path)
  })

  it.each([
    [[], /Give --file, a SQLite file, or --url/],
    [['--file', '/nowhere/x.db'], /there is no `\/nowhere\/x.db`/],
  ])('needs a database: %j', async (args, says) => {
    const { code, err } = await begin(['store', 'prune', ...args]).ended
    expect([code, err]).toEqual([2, expect.stringMatching(says)])
  })
})

needing('postgresql').describe('servable store prune, on PostgreSQL', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server?.stop())

  it('does the same', async () => {
    await prunes(() => opened(postgresState({ url: server.url })), '--url', server.url)
  })

  it('loses nothing if it is killed among its folds', async () => {
    const url = await server.database()
    await killedWhileItFolds(() => opened(postgresState({ url })), '--url', url)
  })
})

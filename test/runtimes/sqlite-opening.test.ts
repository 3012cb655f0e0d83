/** When a database file is opened and closed, what is left beside it, and what is said of one that cannot be opened. */
import { execFile } from 'node:child_process'
import { chmod, chown, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { Agent, createHandler, type HandlerOptions, type LogEntry } from '../../src/index.ts'
import { serve } from '../../src/runtimes/node.ts'
import { sqliteState } from '../../src/runtimes/sqlite.ts'
import { openDatabase } from '../../src/stores/sqlite/driver.ts'
import { adviceFor, runtimeName } from '../../src/stores/sqlite/module.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { type Folder, newFolder } from '../contracts/run-host/folder.ts'
import { eventually } from '../eventually.ts'
import { root } from './process.ts'

const echo = new Agent({
  name: 'echo',
  register: false,
  async *run(input) {
    yield String(input)
  },
})

const NOBODY = 65_534

let folder: Folder
beforeEach(async () => {
  folder = await newFolder()
})
afterEach(() => folder.remove())

const at = (...names: string[]) => join(folder.path, ...names)
const files = () => readdir(folder.path)
const run = promisify(execFile)

/** What a service says whose database is at that path. */
function serviceAt(path: string, options: HandlerOptions = {}) {
  const entries: LogEntry[] = []
  const handler = createHandler({
    registry: false,
    agents: { echo },
    state: sqliteState({ path }),
    logger: entry => void entries.push(entry),
    ...options,
  })
  const ask = (path: string, init?: RequestInit) => handler(new Request(`http://127.0.0.1${path}`, init))
  const runInBackground = () =>
    ask('/api/agents/echo/run', jsonRequest({ input: 'x' }, { prefer: 'respond-async' }))
  const told = () => entries.filter(({ event }) => event === 'state.failed')
  return { handler, ask, runInBackground, told }
}

describe('a database that cannot be opened', () => {
  const cases: readonly [what: string, make: () => Promise<string>, says: RegExp][] = [
    [
      'in a folder that is not there',
      async () => at('none', 'x.db'),
      /folder `.*none` does not exist. Make it/,
    ],
    [
      'that a newer version wrote',
      async () => {
        const path = at('newer.db')
        const driver = openDatabase(path)
        driver.run('CREATE TABLE servable_schema (version INTEGER NOT NULL)')
        driver.run('INSERT INTO servable_schema (version) VALUES (999)')
        driver.close()
        return path
      },
      /newer version of servable has written it .* Start the newer version again/,
    ],
    [
      'that is a folder',
      async () => {
        await mkdir(at('x.db'))
        return at('x.db')
      },
      /it is a folder. Give `path` a file in it/,
    ],
    [
      'in a file',
      async () => {
        await writeFile(at('file'), '')
        return at('file', 'x.db')
      },
      /file` is not a folder/,
    ],
    [
      'that is no database',
      async () => {
        await writeFile(at('x.db'), 'no database at all, '.repeat(100))
        return at('x.db')
      },
      /the file is not an SQLite database/,
    ],
  ]

  it.each(cases)('is a start-up error that names the path and the fix: %s', async (_, make, says) => {
    const path = await make()
    const before = await files()
    const { handler } = serviceAt(path)
    const error = await serve(handler, { port: 0 }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'invalid_options', message: expect.stringMatching(says) })
    expect(String(error)).toContain(path)
    expect(await files()).toEqual(before)
  })

  /** What a process without rights says of a path. Whoever may do everything is refused nothing. */
  async function asNobody(path: string): Promise<string> {
    const script = `
      import { sqliteState } from './src/runtimes/sqlite.ts'
      try {
        sqliteState({ path: ${JSON.stringify(path)} }).store.write(() => {})
        console.log('opened')
      } catch (error) {
        console.log(error.code, error.message)
      }`
    const args = ['--input-type=module', '--eval', script]
    const asRoot = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
    const { stdout } = await run(process.execPath, args, {
      cwd: root,
      env: { ...process.env, NODE_NO_WARNINGS: '1' },
      ...asRoot,
    })
    return stdout
  }

  it('is one where the rights are missing: of a file that may not be written, and of its folder', async () => {
    const { store } = sqliteState({ path: at('x.db') })
    store.write(() => {})
    store.close()
    await chmod(folder.path, 0o555)
    await chmod(at('x.db'), 0o444)
    expect(await asNobody(at('x.db'))).toMatch(/invalid_options .*Let this process read and write the file/)
    await chmod(at('x.db'), 0o666)
    expect(await asNobody(at('x.db'))).toMatch(/invalid_options .*Let this process write into the folder/)
    expect(await asNobody(at('new.db'))).toMatch(/invalid_options .*Let this process write into the folder/)
    await chmod(folder.path, 0o777)
    if (process.getuid?.() === 0) await chown(at('x.db'), NOBODY, NOBODY)
    expect(await asNobody(at('x.db'))).toBe('opened\n')
  })

  it('is answered and logged where nobody serves, and is used once it can be', async () => {
    const { ask, runInBackground, told } = serviceAt(at('later', 'x.db'))
    const plain = await ask('/api/agents/echo/run', jsonRequest({ input: 'x' }))
    expect(plain.status).toBe(500)
    expect((await runInBackground()).status).toBe(500)
    expect((await ask('/api/health')).status).toBe(503)
    expect(told()).toEqual([
      {
        level: 'error',
        event: 'state.failed',
        message: expect.stringMatching(/later\/x.db` cannot be opened: the folder `.*later` does not exist/),
        error: expect.objectContaining({ code: 'invalid_options' }),
      },
    ])
    await mkdir(at('later'))
    expect((await runInBackground()).status).toBe(202)
    expect((await ask('/api/health')).status).toBe(200)
  })

  it.each([
    [{}, '`path` must name a file'],
    [{ path: '' }, '`path` must name a file'],
    [{ path: 'x.db', maxBytes: 1 }, '`maxBytes` is not an option'],
    [{ path: 'x.db', maxRuns: Number.NaN }, '`maxRuns` must be a number, 0 or more'],
  ])('says what is wrong with the options: %j', (options, says) => {
    expect(() => sqliteState(options as never)).toThrow(says)
  })
})

describe('a runtime without SQLite', () => {
  it('is told which version has it', () => {
    vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never)
    onTestFinished(() => void vi.restoreAllMocks())
    expect(() => sqliteState({ path: at('x.db') })).toThrow(
      expect.objectContaining({
        code: 'invalid_options',
        message: expect.stringMatching(
          /needs `node:sqlite`, which Node \d+\.\S+ does not have: use Node 22.13/,
        ),
      }),
    )
  })

  it.each([
    [{ node: '20.20.2' }, 'Node 20.20.2', 'use Node 22.13 or newer'],
    [{ bun: '1.1.0', node: '22.6.0' }, 'Bun 1.1.0', 'use a newer Bun'],
    [{ deno: '2.1.4', node: '22.11.0' }, 'Deno 2.1.4', 'use Deno 2.2 or newer'],
  ])('has a name and an advice: %j', (versions, name, advice) => {
    expect(runtimeName(versions)).toBe(name)
    expect(adviceFor(versions)).toContain(advice)
  })
})

describe('a handler over a database', () => {
  it('opens it with the first request and not before, as where a build only imports it', async () => {
    const { ask } = serviceAt(at('x.db'), { a2a: { push: true }, gateway: true })
    expect(await files()).toEqual([])
    await ask('/api/health')
    expect(await files()).toContain('x.db')
  })

  it('leaves nothing beside it when its server has closed, and opens it again for the next one', async () => {
    const { handler } = serviceAt(at('x.db'))
    for (const round of [1, 2]) {
      const server = await serve(handler, { port: 0 })
      expect((await files()).length, `round ${round}`).toBeGreaterThan(1)
      await fetch(
        `${server.url}/api/agents/echo/run`,
        jsonRequest({ input: 'x' }, { prefer: 'respond-async' }),
      )
      await server.close({ graceMs: 10_000 })
      expect(await files()).toEqual(['x.db'])
    }
  })

  it('keeps it open for its other servers, and for runs that go on', async () => {
    let end = () => {}
    const ended = new Promise<void>(resolve => {
      end = resolve
    })
    const waits = new Agent({
      name: 'waits',
      register: false,
      async *run() {
        yield 'before '
        await ended
        yield 'after'
      },
    })
    const { handler } = serviceAt(at('x.db'), { agents: { waits } })
    const [one, two] = [await serve(handler, { port: 0 }), await serve(handler, { port: 0 })]
    const request = jsonRequest({ input: 'x' }, { prefer: 'respond-async' })
    const location = (await fetch(`${one.url}/api/agents/waits/run`, request)).headers.get('location') ?? ''
    await one.close()
    await two.close()
    expect((await files()).length).toBe(4)
    end()
    await eventually(async () => expect(await files()).toEqual(['x.db']))
    const three = await serve(handler, { port: 0 })
    onTestFinished(() => three.close())
    expect(await (await fetch(new URL(location, three.url))).json()).toMatchObject({
      status: 'completed',
      result: { text: 'before after' },
    })
  })

  it('lets go of it where the server cannot listen', async () => {
    const { handler } = serviceAt(at('x.db'))
    const server = await serve(createHandler({ registry: false }), { port: 0 })
    onTestFinished(() => server.close())
    await expect(serve(handler, { port: server.port })).rejects.toThrow('EADDRINUSE')
    expect(await files()).toEqual(['x.db'])
  })

  it('closes it when the process ends without a server', async () => {
    const script = `
      import { sqliteState } from './src/runtimes/sqlite.ts'
      for (const name of ['x.db', 'y.db']) sqliteState({ path: process.env.FOLDER + '/' + name }).store.write(() => {})`
    const env = { ...process.env, NODE_NO_WARNINGS: '1', FOLDER: folder.path }
    await run(process.execPath, ['--input-type=module', '--eval', script], { cwd: root, env })
    expect((await files()).toSorted()).toEqual(['x.db', 'y.db'])
  })
})

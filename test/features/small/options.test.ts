/** The small plugins, by themselves: each checks its options under its own name, and works on the core. */
import { describe, expect, it } from 'vitest'
import {
  type CoreOptions,
  corrections,
  cors,
  createHandler,
  memoryState,
  rateLimit,
  trustProxy,
  uploads,
} from '../../../src/core-entry.ts'
import { type FileStore, files } from '../../../src/features/files/plugin.ts'
import { tools } from '../../../src/features/small/tools.ts'
import { jsonRequest } from '../../contracts/http/client.ts'
import { untyped } from '../../support.ts'

const WRONG: [named: string, make: () => unknown][] = [
  ['cors', () => cors(untyped('https://a.example'))],
  ['cors.credentials', () => cors({ origins: '*', credentials: true })],
  ['rateLimit.max', () => rateLimit({ max: 0 })],
  ['rateLimit.maximum', () => rateLimit(untyped({ maximum: 1 }))],
  ['uploads.maxFiles', () => uploads({ maxFiles: 0 })],
  ['uploads.allowedMimeTypes.0', () => uploads({ allowedMimeTypes: ['image'] })],
  ['trustProxy', () => trustProxy(0)],
  ['files.store', () => files({ store: untyped<FileStore>({ put() {}, get() {}, delete() {} }) })],
  ['files.maxFileBytes', () => files({ maxFileBytes: 0 })],
  ['files.maxBytes', () => files(untyped({ maxBytes: 1 }))],
  ['toolkits', () => tools(untyped({ toolkits: {} }))],
  ['toolLibrary.add', () => tools({ toolLibrary: { add: untyped({}) } })],
]

const echo = { run: async (input: unknown) => ({ text: String(input) }) as never }

function ask(options: CoreOptions, path: string, init: RequestInit = {}): Promise<Response> {
  const handler = createHandler({ agents: { echo }, registry: false, production: false, ...options })
  return handler(new Request(`http://127.0.0.1${path}`, init))
}

describe('a small plugin', () => {
  it.each(WRONG)('refuses wrong options and names `%s`', (named, make) => {
    expect(make).toThrow(
      expect.objectContaining({ code: 'invalid_options', message: expect.stringContaining(`\`${named}\``) }),
    )
  })

  it('lets pages of other origins call', async () => {
    const init = { headers: { origin: 'https://a.example' } }
    const allowed = (answer: Response) => answer.headers.get('access-control-allow-origin')
    expect(allowed(await ask({ plugins: [cors(['https://a.example'])] }, '/api/agents', init))).toBe(
      'https://a.example',
    )
    expect(allowed(await ask({}, '/api/agents', init))).toBeNull()
  })

  it('limits requests', async () => {
    const handler = createHandler({ registry: false, plugins: [rateLimit({ max: 1 })], logger: false })
    const statuses = []
    for (let n = 0; n < 2; n++) statuses.push((await handler(new Request('http://127.0.0.1/api'))).status)
    expect(statuses).toEqual([200, 429])
  })

  it('takes files, which the core alone does not', async () => {
    const body = () => {
      const form = new FormData()
      form.set('input', 'with a file')
      form.set('files', new File(['text'], 'a.txt', { type: 'text/plain' }))
      return form
    }
    const send = (options: CoreOptions) =>
      ask(options, '/api/agents/echo/run', { method: 'POST', body: body() })
    expect((await send({})).status).toBe(415)
    expect((await send({ plugins: [uploads()] })).status).toBe(200)
  })

  it('lists tools', async () => {
    const plugins = [tools({ toolLibrary: { ping: { name: 'ping', execute: () => 'pong' } } })]
    expect(await (await ask({ plugins }, '/api/tools')).json()).toMatchObject([{ name: 'ping' }])
    expect((await ask({}, '/api/tools')).status).toBe(404)
  })

  it('keeps corrections where there is a state, and says what to give where there is none', async () => {
    const kept = { ...echo, corrections: true } as const
    const correct = jsonRequest({ originalValue: 'a', correctedValue: 'b' })
    const options = { agents: { kept }, plugins: [corrections()] }
    expect(
      (await ask({ ...options, state: memoryState() }, '/api/agents/kept/corrections', correct)).status,
    ).toBe(201)
    expect(() => createHandler(options)).toThrow('memoryState()')
  })

  it('counts in the state that the handler has, or refuses', () => {
    expect(() => createHandler({ plugins: [rateLimit({ shared: true })] })).toThrow('`rateLimit` stores data')
    expect(() =>
      createHandler({ plugins: [rateLimit({ shared: true })], state: memoryState() }),
    ).not.toThrow()
  })
})

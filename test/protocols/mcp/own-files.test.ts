/** Files that agents made, as resources. */
import { describe, expect, it } from 'vitest'
import { type FilesOptions, files } from '../../../src/features/files/plugin.ts'
import { Agent, bearerAuth, memoryState, textOf, type Yielded } from '../../../src/index.ts'
import { mcpResources, mcpTasks, ownFiles } from '../../../src/protocols/mcp/plugin.ts'
import { toBase64 } from '../../../src/web/base64.ts'
import { eventually } from '../../eventually.ts'
import { type Json, serve, TAKES_TASKS } from './calling.ts'

const MIB = 1024 * 1024

/** Text of more bytes than stay in events. */
const long = (text: string) => `${text} `.repeat(1000)
const utf8 = (text: string) => toBase64(new TextEncoder().encode(text))

const artifact = (artifactId: string, data: string, mimeType: string, filename?: string): Yielded => ({
  type: 'artifact',
  artifactId,
  parts: [{ type: 'file', data, mimeType, ...(filename && { filename }) }],
})

const made: Readonly<Record<string, () => Yielded[]>> = {
  report: () => [artifact('a/../b', utf8(long('Grüße')), 'text/markdown; charset=utf-8', 'report.md')],
  picture: () => [artifact('picture', toBase64(new Uint8Array(9000).fill(7)), 'image/png')],
  latin: () => [artifact('latin', toBase64(new Uint8Array(5000).fill(0xff)), 'text/plain', 'l.txt')],
  message: () => [
    { type: 'message', parts: [{ type: 'image', data: utf8(long('message')), mimeType: 'image/gif' }] },
  ],
  small: () => [artifact('small', utf8('small'), 'text/plain')],
  many: () =>
    Array.from({ length: 520 }, (_, at) =>
      artifact(`a${at}`, utf8(long(`${at}`.padStart(9))), 'a/b', `${at}`),
    ),
  huge: () => [artifact('huge', toBase64(new Uint8Array(16 * MIB + 1)), 'a/b', 'huge.bin')],
}

const painter = new Agent({
  name: 'painter',
  register: false,
  async *run(input) {
    yield* made[textOf(input)]?.() ?? []
    yield 'Done'
  },
})

const tokens = { 'token-of-ada': 'ada', 'token-of-bob': 'bob' }

function service(filesOptions: FilesOptions = {}, publicUrl?: string) {
  const { ask, askLegacy, handler, stream } = serve(
    {
      tools: [{ of: 'painter', taskSupport: 'required' }],
      tasks: mcpTasks(),
      resources: mcpResources(ownFiles()),
    },
    {
      agents: { painter },
      middleware: [bearerAuth({ tokens })],
      plugins: [files(filesOptions)],
      state: memoryState(),
      runs: { maxLength: 64 * MIB },
      ...(publicUrl && { publicUrl }),
    },
  )
  const as = (user = 'ada', more = {}) => ({ headers: { authorization: `Bearer token-of-${user}` }, ...more })
  /** Lets a task paint, and gives its result. */
  const paint = async (input: string, user = 'ada', more = {}): Promise<Json> => {
    const params = { name: 'painter', arguments: { input, ...more } }
    const { result } = await ask('tools/call', params, as(user, { capabilities: TAKES_TASKS }))
    const { taskId } = result
    return eventually(async () => {
      const task = await ask('tasks/get', { taskId }, as(user, { capabilities: TAKES_TASKS }))
      expect(task.result.status).toBe('completed')
      return { taskId, ...task.result.result }
    })
  }
  const list = async (user = 'ada', params = {}): Promise<Json[]> =>
    (await ask('resources/list', params, as(user))).result.resources
  const read = (uri: string, user = 'ada') => ask('resources/read', { uri }, as(user))
  return { ask, askLegacy, handler, stream, as, paint, list, read }
}

describe('files that agents made', () => {
  it('are listed with the newest first, and read as text or bytes in each revision', async () => {
    const { paint, list, read, askLegacy, as } = service()
    for (const input of ['report', 'picture', 'latin', 'message', 'small']) await paint(input)
    const all = await list()
    expect(all.map(({ name, mimeType, size }) => [name, mimeType, size]).reverse()).toEqual([
      ['report.md', 'text/markdown; charset=utf-8', 8000],
      ['file', 'image/png', 9000],
      ['l.txt', 'text/plain', 5000],
      ['file', 'image/gif', 8000],
    ])
    const contents = await Promise.all(
      all.map(async ({ uri }) => {
        expect(uri).toMatch(/^servable:\/\/files\/[\da-f-]{36}\/[\w.-]+$/)
        const { result } = await read(uri)
        const old = await askLegacy('resources/read', { uri }, as())
        expect(old.result.contents).toEqual(result.contents)
        expect(result).toMatchObject({ cacheScope: 'private', ttlMs: 0 })
        return result.contents[0]
      }),
    )
    const [message, latin, picture, report] = contents
    expect(report).toMatchObject({ text: long('Grüße'), mimeType: 'text/markdown; charset=utf-8' })
    expect(picture).toMatchObject({ mimeType: 'image/png', blob: toBase64(new Uint8Array(9000).fill(7)) })
    // It says that it is text, and is no UTF-8.
    expect(latin.blob).toBe(toBase64(new Uint8Array(5000).fill(0xff)))
    expect(message.blob).toBe(utf8(long('message')))
  })

  it.each([
    ['without a public address', undefined],
    ['with one', 'https://agents.example.com'],
  ])('are linked in the result of the call whose run made them: %s', async (_, publicUrl) => {
    const { paint, list, read } = service({}, publicUrl)
    for (const input of ['report', 'picture', 'message']) {
      const { content, taskId } = await paint(input)
      const links = content.filter(({ type }: Json) => type === 'resource_link')
      expect(links).toHaveLength(1)
      const { uri } = links[0]
      expect((await list()).map(each => each.uri)).toContain(uri)
      expect(uri).toContain(taskId)
      expect((await read(uri)).result.contents[0].uri).toBe(uri)
    }
  })

  it('belong to their owner, whatever the address', async () => {
    const { paint, list, read, ask } = service()
    await paint('picture')
    const [{ uri }] = await list()
    expect(await list('bob')).toEqual([])
    expect((await read(uri, 'bob')).error).toMatchObject({ code: -32602, data: { uri } })
    const [, , , run = '', place = ''] = uri.split('/')
    for (const other of [
      `servable://files/${run}/input.0`,
      `servable://files/turn-${run}/${place}`,
      `servable://files/${run}/${place}~`,
      `servable://files/${run}/${place.replace('.0', '.1')}`,
      `servable://files/${run}/artifact-.0`,
      `servable://files/${run}/message-0.0`,
      `servable://files/${run}/..`,
      `servable://files/${run}%2f${place}/${place}`,
      `servable://files/../${place}`,
      `servable://files/%2e%2e/${place}`,
      `servable://files//${place}`,
      `servable://files/${'x'.repeat(1900)}/${place}`,
      `/api/runs/${run}/artifacts/picture`,
    ])
      expect((await read(other)).error?.code, other).toBe(-32602)
    // The same bytes of another owner are another file.
    await paint('picture', 'bob')
    expect((await list('bob')).map(each => each.uri)).not.toContain(uri)
    expect((await ask('resources/list')).status).toBe(401)
  })

  it('have none among them that a client uploaded', async () => {
    const { handler, as, list } = service()
    const body = JSON.stringify({
      input: [{ type: 'file', data: utf8(long('mine')), mimeType: 'text/plain' }],
      sessionId: 's',
      background: true,
    })
    const init = { method: 'POST', body, headers: { 'content-type': 'application/json', ...as().headers } }
    const started = await handler(new Request('http://127.0.0.1/api/agents/painter/run', init))
    const id = started.headers.get('x-run-id')
    await eventually(async () => {
      const path = `http://127.0.0.1/api/runs/${id}/input`
      expect((await handler(new Request(path, as()))).status).toBe(200)
    })
    expect(await list()).toEqual([])
  })

  it('go with their run', async () => {
    const { paint, list, read, handler, as } = service()
    const { taskId } = await paint('picture')
    const [{ uri }] = await list()
    const url = `http://127.0.0.1/api/runs/${taskId}`
    expect((await handler(new Request(url, { method: 'DELETE', ...as() }))).status).toBe(204)
    expect((await read(uri)).error.code).toBe(-32602)
    expect(await list()).toEqual([])
  })

  it('that are too large are refused before they are read, with the address to download', async () => {
    let reads = 0
    const { paint, list, read, handler, as } = service({
      store: {
        put() {},
        has: () => true,
        delete() {},
        get() {
          reads++
          return new Uint8Array(3)
        },
      },
    })
    await paint('huge')
    const [{ uri, size, name }] = await list()
    expect([size, name]).toEqual([16 * MIB + 1, 'huge.bin'])
    const { error, text } = await read(uri)
    expect([error.code, reads]).toEqual([-32603, 0])
    expect(text.length).toBeLessThan(1000)
    const [, address = ''] = /`(\/api\/runs\/[^`]+)`/.exec(error.message) ?? []
    expect((await handler(new Request(`http://127.0.0.1${address}`, as()))).status).toBe(200)
  })

  it('that a store has lost, or cannot give, are not there, and tell nothing of why', async () => {
    const kept = new Map<string, Uint8Array<ArrayBuffer>>()
    let isDown = false
    const { paint, list, read } = service({
      store: {
        put: (name, bytes) => void kept.set(name, bytes),
        has: name => kept.has(name),
        delete: name => kept.delete(name),
        get(name) {
          if (isDown) throw new Error('the password is 1234')
          return kept.get(name) && new Response(kept.get(name)).body
        },
      },
    })
    await paint('picture')
    const [{ uri }] = await list()
    expect((await read(uri)).result.contents[0].blob).toHaveLength(12_000)
    isDown = true
    const failed = await read(uri)
    expect(failed.error).toMatchObject({ code: -32000, data: { code: 'state_unavailable' } })
    expect(failed.text).not.toContain('1234')
    isDown = false
    kept.clear()
    expect((await read(uri)).error.code).toBe(-32602)
  })

  it('are 500 at most, the newest ones, and pages tell them once', async () => {
    const { paint, list } = service()
    await paint('many')
    const all = await list()
    expect(new Set(all.map(({ uri }) => uri)).size).toBe(500)
    expect(all.map(({ name }) => name)).toContain('519')
    expect(await list('ada', { cursor: '500' })).toEqual([])
  })

  it('are none without the plugin', async () => {
    const { ask } = serve(
      { tools: true, resources: mcpResources(ownFiles()) },
      { agents: { painter }, middleware: [bearerAuth({ tokens })] },
    )
    const headers = { authorization: 'Bearer token-of-ada' }
    expect((await ask('resources/list', {}, { headers })).result.resources).toEqual([])
    const uri = `servable://files/${crypto.randomUUID()}/message-1.0`
    expect((await ask('resources/read', { uri }, { headers })).error.code).toBe(-32602)
    const { result } = await ask(
      'tools/call',
      { name: 'painter', arguments: { input: 'small' } },
      { headers },
    )
    expect(result.content[1]).toMatchObject({ type: 'resource', resource: { blob: utf8('small') } })
  })
})

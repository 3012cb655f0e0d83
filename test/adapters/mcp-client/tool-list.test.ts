import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { collectTools, type ToolPage } from '../../../src/adapters/mcp-client/tool-list.ts'

const tool = (name: string) => ({ name, description: `does ${name}`, inputSchema: { type: 'object' } })

/** Pages of tools, the cursor of each its index. */
const paged =
  (pages: readonly (readonly unknown[])[]) =>
  async (cursor: string | undefined): Promise<ToolPage> => {
    const index = Number(cursor ?? 0)
    return { tools: pages[index] ?? [], nextCursor: index + 1 < pages.length ? String(index + 1) : undefined }
  }

describe('collectTools', () => {
  it('walks all pages, in order', async () => {
    const { tools, warnings } = await collectTools(paged([[tool('a'), tool('b')], [], [tool('c')]]), 10)
    expect([...tools.keys()]).toEqual(['a', 'b', 'c'])
    const { name, description, inputSchema } = tools.get('c') ?? {}
    expect({ name, description, inputSchema }).toEqual(tool('c'))
    expect(warnings).toEqual([])
  })

  it('reads whether a call may be done again, and takes nothing but true for yes', async () => {
    const hints = [
      undefined,
      { readOnlyHint: true, title: 'x'.repeat(100_000) },
      { idempotentHint: true },
      { readOnlyHint: 'yes', idempotentHint: 1 },
      'readOnlyHint',
    ]
    const page = hints.map((annotations, index) => ({ ...tool(`t${index}`), annotations }))
    const { tools } = await collectTools(paged([page]), 10)
    expect(
      Array.from(tools.values(), ({ annotations }) => [
        annotations.readOnlyHint,
        annotations.idempotentHint,
        Object.keys(annotations).length,
      ]),
    ).toEqual([
      [false, false, 2],
      [true, false, 2],
      [false, true, 2],
      [false, false, 2],
      [false, false, 2],
    ])
  })

  it('leaves out names that nobody can call, and says so', async () => {
    const names = [
      '__proto__',
      'a\u0000b',
      'line\nbreak',
      '',
      'with space',
      'ü',
      'x'.repeat(129),
      '\u202Etxt',
      7,
      null,
    ]
    const { tools, warnings } = await collectTools(
      paged([[...names.map(name => ({ ...tool('x'), name })), tool('constructor'), tool('good')]]),
      100,
    )
    expect([...tools.keys()]).toEqual(['constructor', 'good'])
    expect(warnings).toEqual([expect.stringMatching(/^10 left out: a tool's name/)])
  })

  it('leaves out a second tool of a name, and schemas that are missing, too large or too deep', async () => {
    let deep: unknown = {}
    for (let depth = 0; depth < 100_000; depth++) deep = { items: deep }
    const { tools, warnings } = await collectTools(
      paged([
        [
          tool('a'),
          { ...tool('a'), description: 'another' },
          { ...tool('none'), inputSchema: undefined },
          { ...tool('large'), inputSchema: { type: 'object', description: 'x'.repeat(200_000) } },
          { ...tool('deep'), inputSchema: { type: 'object', items: deep } },
          null,
          'text',
        ],
      ]),
      10,
    )
    expect([...tools.keys()]).toEqual(['a'])
    expect(tools.get('a')?.description).toBe('does a')
    expect(warnings.map(warning => warning.slice(0, 13))).toEqual([
      '2 left out: a',
      '3 left out: t',
      '1 left out: a',
    ])
  })

  it('stops at as many as may be', async () => {
    const many = Array.from({ length: 10_000 }, (_, index) => tool(`t${index}`))
    const { tools, warnings } = await collectTools(paged([many, many]), 1000)
    expect(tools.size).toBe(1000)
    expect(warnings).toEqual([expect.stringContaining('only the first 1000 tools')])
    expect((await collectTools(paged([many.slice(0, 1000)]), 1000)).warnings).toEqual([])
  })

  it.each([
    ['the same cursor for ever', () => 'again'],
    ['a new cursor for ever', (count: number) => String(count)],
  ])('ends with a server that gives %s', async (_, next) => {
    let count = 0
    const page = async () => ({ tools: [tool(`t${count++}`)], nextCursor: next(count) })
    const { tools, warnings } = await collectTools(page, 10_000)
    expect(count).toBeLessThanOrEqual(101)
    expect(tools.size).toBe(count)
    expect(warnings).toHaveLength(1)
  })

  it('takes whatever a server sends without a throw, and no more than may be', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.array(fc.oneof(fc.anything(), fc.record({ name: fc.anything(), inputSchema: fc.anything() }))),
        ),
        async pages => {
          const { tools } = await collectTools(paged(pages), 5)
          expect(tools.size).toBeLessThanOrEqual(5)
        },
      ),
    )
  })
})

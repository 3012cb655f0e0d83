/** The scripts that check and make the documentation. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import {
  anchorsOf,
  deadLinks,
  eventsOf,
  linksOf,
  optionsOf,
  rowsOf,
  statusesOf,
  unindexed,
  unservedCode,
  wrongCodes,
  wrongEvents,
  wrongOptions,
  wrongPlaces,
} from '../../.ci/docs.ts'
import { keyOf, PARTS, ROUTES_PAGE, routesOf, tables, withTables } from '../../.ci/routes.ts'
import { everything } from '../../examples/everything.ts'
import { localState } from '../../src/core/local-state.ts'
import { memoryStore } from '../../src/stores/memory.ts'

const never = () => false
const root = fileURLToPath(new URL('../../', import.meta.url))
const read = (path: string) => readFile(join(root, path), 'utf8')

describe('linksOf', () => {
  it('finds links, pictures, references and tags', () => {
    const page = [
      'See [one](one.md), ![two](two.svg) and [three](<three.md> "Title").',
      '[four]: four.md',
      '<source srcset="dark.svg"><img alt="five" src="five.svg">',
    ].join('\n')
    expect(linksOf(page)).toEqual(['one.md', 'two.svg', 'three.md', 'four.md', 'dark.svg', 'five.svg'])
  })

  it('leaves out other sites, code and footnotes', () => {
    const page = [
      '[a](https://example.com) [b](mailto:a@example.com) `[c](c.md)`',
      '```ts',
      "const link = '[d](d.md)'",
      '```',
      '[^1]: A note.',
    ].join('\n')
    expect(linksOf(page)).toEqual([])
  })
})

describe('anchorsOf', () => {
  it('makes anchors of headings as GitHub does', () => {
    const page =
      "# What's `new`?\n\n## A [link](x.md) here\n\n## Same\n\n## Same\n\n```sh\n# no heading\n```\n"
    expect([...anchorsOf(page)]).toEqual(['whats-new', 'a-link-here', 'same', 'same-1'])
  })
})

describe('deadLinks', () => {
  it('follows links from the folder of their page', () => {
    const pages = new Map([
      ['README.md', '[docs](docs/one.md#first) [code](src/index.ts)'],
      ['docs/one.md', '# First\n\n[back](../README.md) [here](#first)'],
    ])
    expect(deadLinks(pages, path => path === 'src/index.ts')).toEqual([])
  })

  it('names pages that are not there, and headings that are not', () => {
    const pages = new Map([
      ['docs/one.md', '# First\n\n[gone](gone.md) [up](../gone) [other](two.md#third) [here](#second)'],
      ['docs/two.md', '# Second'],
    ])
    expect(deadLinks(pages, never)).toEqual([
      'docs/one.md: nothing is at `gone.md`',
      'docs/one.md: nothing is at `../gone`',
      'docs/one.md: no heading for `two.md#third`',
      'docs/one.md: no heading for `#second`',
    ])
  })
})

describe('unindexed', () => {
  it('names pages of docs that the index does not link to below the heading of their folder', () => {
    const pages = new Map([
      [
        'docs/README.md',
        '[two](look-up/two.md)\n\n## Look up\n\n[one](look-up/one.md#part) [three](run/three.md)',
      ],
      ['docs/look-up/one.md', ''],
      ['docs/look-up/two.md', ''],
      ['docs/run/three.md', ''],
      ['docs/why/decisions/0001-one.md', ''],
      ['README.md', ''],
    ])
    expect(unindexed(pages)).toEqual([
      'docs/README.md: does not name docs/look-up/two.md in the part of its folder',
      'docs/README.md: does not name docs/run/three.md in the part of its folder',
    ])
  })

  it('names none while there is no index', () => {
    expect(unindexed(new Map([['docs/one.md', '']]))).toEqual([])
  })
})

describe('unservedCode', () => {
  it('names pages whose commands need what they do not tell of', () => {
    const command = '\n\n```sh\ncurl http://127.0.0.1:8787/api\n```\n'
    const pages = new Map([
      ['docs/run/one.md', `Serve it on port 8787:${command}`],
      [
        'docs/run/two.md',
        `[Agents](../start/getting-started.md#try-the-example-agents) of a clone:${command}`,
      ],
      ['docs/run/three.md', `Ask it:${command}`],
    ])
    expect(unservedCode(pages)).toEqual(['docs/run/three.md: does not say what serves port 8787'])
  })
})

describe('rowsOf', () => {
  it('reads cells, of which one may hold a bar', () => {
    expect(rowsOf('| a | b |\n|---|---:|\n| `x` | y \\| z |\n| | w |\n')).toEqual([
      ['a', 'b'],
      ['`x`', 'y \\| z'],
      ['', 'w'],
    ])
  })
})

describe('the codes of errors', () => {
  const errors = "const CODES = {\n  missing: [\n    'gone',\n  ],\n  failed: ['broken'],\n} as const\n"
  const statuses = statusesOf(errors, "const STATUS = {\n  missing: [404, 'x'],\n  failed: [500, 'y'],\n}\n")

  it('are read from the sources', () => {
    expect([...statuses]).toEqual([
      ['gone', '404'],
      ['broken', '500'],
    ])
  })

  it('are on the page with their status, and no others', () => {
    expect(wrongCodes('| `gone` | 404 | x | y |\n| `broken` | 500 | x | y |\n', statuses)).toEqual([])
    expect(wrongCodes('| `gone` | 410 | x | y |\n| `old` | 400 | x | y |\n', statuses)).toEqual([
      'docs/look-up/errors.md: needs a row of `gone` with the status 404',
      'docs/look-up/errors.md: needs a row of `broken` with the status 500',
      'docs/look-up/errors.md: there is no code `old`',
    ])
  })
})

describe('options', () => {
  const sources = [
    `/** All of them. */
export interface HandlerOptions extends CoreOptions {
  /** Limits, with what they are for: 3 of them. */
  readonly limits?: boolean | LimitOptions
  /** The same once more. */
  readonly others?: LimitOptions
  /** A part of its own. */
  readonly part?: { readonly name: string }
}

/** Most that there may be. */
export interface LimitOptions {
  /**
   * Most bytes of a body; more is refused. A longer text, in more than one
   * line. Default 1,048,576. It may be nested.
   */
  readonly maxBytes?: number
  /** Where. Default \`/api\`. */
  readonly path?: string
}

export type Setting = boolean | MoreOptions

/** More. */
export interface MoreOptions {
  readonly more?: boolean
}
`,
    `export interface CoreOptions {
  /** Who may call. Default: off, and a \`0\` is none. */
  readonly cors?: Setting
  readonly test?: (value: string) => boolean
}
`,
  ]
  const options = optionsOf(sources, { HandlerOptions: '' })

  it('are read from the sources, with those of nested types, which are told once', () => {
    expect(options).toEqual([
      { name: 'cors', default: 'off' },
      { name: 'cors.more', default: undefined },
      { name: 'test', default: undefined },
      { name: 'limits', default: undefined },
      { name: 'limits.maxBytes', default: '1,048,576' },
      { name: 'limits.path', default: '`/api`' },
      { name: 'others', default: undefined },
      { name: 'part', default: undefined },
      { name: 'part.name', default: undefined },
    ])
  })

  it('are missed where their type has another name', () => {
    expect(() => optionsOf(sources, { OtherOptions: '' })).toThrow('There is no `OtherOptions`')
  })

  const row = (name: string, value = 'none') => `| \`${name}\` | ${value} | what it does | tests |\n`
  const rows = options.map(option => row(option.name, option.default)).join('')
  const pageWith = (first: string, others = rows) =>
    `## What a deployment sets\n\n${first}\n## Others\n\n${others}`
  const first = '| [`cors`](#others) | when a page calls |\n'

  it('are on the page with their defaults', () => {
    expect(wrongOptions(pageWith(first), options)).toEqual([])
    expect(wrongOptions(pageWith(first, rows.replace('1,048,576', '2,000,000')), options)).toEqual([
      'docs/look-up/options.md: the default of `limits.maxBytes` is 1,048,576',
    ])
    expect(
      wrongOptions(pageWith(first, rows.replace(row('part.name'), row('part.name', ''))), options),
    ).toEqual(['docs/look-up/options.md: needs a row of `part.name` with its default'])
    expect(wrongOptions(pageWith(first, row('cors', 'off')), options)).toHaveLength(options.length - 1)
  })

  it.each(['| `part` | none | what it does |\n', '| `part` | none | what it does | |\n'])(
    'say who sets them: %s',
    silent => {
      expect(wrongOptions(pageWith(first, rows.replace(row('part'), silent)), options)).toEqual([
        'docs/look-up/options.md: the row of `part` does not say who sets it',
      ])
    },
  )

  it('have a short first table of options that have a row below', () => {
    expect(wrongOptions(pageWith(first.repeat(25)), options)).toEqual([])
    expect(wrongOptions(pageWith(first.repeat(26)), options)).toEqual([
      'docs/look-up/options.md: the first table has 26 rows, which is more than 25',
    ])
    expect(wrongOptions(pageWith(first.replace('cors', 'gone')), options)).toEqual([
      'docs/look-up/options.md: the first table has `gone`, which has no row below',
    ])
    expect(wrongOptions(rows, options)).toEqual([
      'docs/look-up/options.md: needs a table below `## What a deployment sets`',
    ])
  })
})

describe('wrongPlaces', () => {
  const page = '| `web/` | `web/sse.ts` |\n\n`a2a/task.ts`, `test/repository/wall.test.ts` and `turn.ts`'
  const sources = ['src/web/sse.ts', 'src/a2a/task.ts', 'src/errors.ts']

  it('names folders without a row', () => {
    expect(wrongPlaces(page, sources, () => true)).toEqual([
      'docs/why/architecture.md: needs a row of `a2a/`',
    ])
    expect(wrongPlaces(`${page}\n| \`a2a/\` | tasks |`, sources, () => true)).toEqual([])
  })

  it('names files that are not there', () => {
    expect(wrongPlaces(`${page}\n| \`a2a/\` | tasks |`, sources.slice(0, 1), never)).toEqual([
      'docs/why/architecture.md: there is no `a2a/task.ts`',
      'docs/why/architecture.md: there is no `test/repository/wall.test.ts`',
    ])
  })
})

describe('the pages', () => {
  it('name every code of an error', async () => {
    const statuses = statusesOf(await read('src/base/errors.ts'), await read('src/web/problem.ts'))
    expect(statuses.size).toBeGreaterThan(50)
    expect(wrongCodes(await read('docs/look-up/errors.md'), statuses)).toEqual([])
  })

  it('name every option', async () => {
    const files = (await readdir(join(root, 'src'), { recursive: true })).filter(file => file.endsWith('.ts'))
    const options = optionsOf(await Promise.all(files.map(file => read(`src/${file}`))))
    expect(options.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['prefix', 'runs.maxBytes', 'a2a.push.secret', 'gateway.limits.pingInterval']),
    )
    expect(wrongOptions(await read('docs/look-up/options.md'), options)).toEqual([])
  })
})

describe('the events', () => {
  const source =
    'const MEMBERS: X = {\n  text: { text: 1 },\n  file: {\n    ...{ id: 1, parts: 1 },\n  },\n  resumed: {},\n}\n'
  const events = eventsOf(source)

  it('are read from the sources', async () => {
    expect([...events]).toEqual([
      ['text', ['text']],
      ['file', ['id', 'parts']],
      ['resumed', []],
    ])
    expect(eventsOf(await read('src/agents/event.ts')).size).toBeGreaterThan(10)
  })

  it('are on the page with their fields, and no others', () => {
    const page = '| `text` | `text` | x |\n| `file` | `id`, `parts: []`? | x |\n| `resumed` | | x |\n'
    expect(wrongEvents(page, events)).toEqual([])
    expect(wrongEvents(page.replace('`id`, ', '').replace('resumed', 'gone'), events)).toEqual([
      'docs/look-up/events.md: needs a row of `file` with the fields id, parts',
      'docs/look-up/events.md: needs a row of `resumed` with the fields ',
      'docs/look-up/events.md: there is no event `gone`',
    ])
  })
})

describe('the page of routes', () => {
  it('is what the code has: node .ci/routes.ts', async () => {
    const page = await readFile(ROUTES_PAGE, 'utf8')
    expect(page).toBe(withTables(page, tables()))
  })

  it('has every route of a service with everything', () => {
    const state = localState({ store: memoryStore(), retention: {}, isVolatile: false })
    const all = everything(
      { ADMIN_TOKEN: 'admin', USER_TOKEN: 'ada' },
      { state, assets: () => Response.error() },
    )
    const told = new Set(
      [{}, ...PARTS.map(([, , options]) => options)].flatMap(each => routesOf(each).map(keyOf)),
    )
    const untold = routesOf(all)
      .map(keyOf)
      .filter(key => !told.has(key))
    // The examples have a plugin of their own.
    expect(untold.filter(key => !key.includes('/ndjson'))).toEqual([])
  })
})

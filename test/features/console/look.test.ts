import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { definitionOf } from '../../../console/admin/definition.ts'
import {
  groupsOf,
  type Inbox,
  inboxAfter,
  inStableOrder,
  isListed,
  lineOf,
  wishOf,
} from '../../../console/approvals/inbox.ts'
import { factsOf } from '../../../console/cards/card.ts'
import { wrongIn } from '../../../console/parts/wrong.ts'
import { askedOf, filtersOf, fits, queryOf } from '../../../console/runs/filters.ts'
import {
  costOf,
  countsOf,
  headlineOf,
  type Listed,
  merged,
  outliers,
  quantile,
  sorted,
  tookMs,
} from '../../../console/runs/numbers.ts'
import { textOfInput } from '../../../console/sessions/input-text.ts'
import { age, typedValue, visible } from '../../../console/text.ts'
import { windowOf } from '../../../console/window.ts'
import type { RunSummary } from '../../../src/client/index.ts'
import type { WaitingRequest } from '../../../src/features/approvals/inbox.ts'
import { Agent, agentCard } from '../../../src/index.ts'
import { codePoint } from '../../code-point.ts'

const row = fc.constantFrom(28, 36, 44)

describe('the window of a long list', () => {
  it('has all rows that are seen, and few others', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: -5000, max: 1_000_000 }),
        fc.nat(5000),
        fc.nat(20_000),
        row,
        (top, height, count, rowHeight) => {
          const { from, to } = windowOf({ top, height }, count, rowHeight)
          expect(from).toBeGreaterThanOrEqual(0)
          expect(to).toBeLessThanOrEqual(count)
          expect(to).toBeGreaterThanOrEqual(from)
          expect(to - from).toBeLessThanOrEqual(Math.ceil(height / rowHeight) + 18)
          const first = Math.floor(top / rowHeight)
          const last = Math.ceil((top + height) / rowHeight) - 1
          for (const seen of [first, last]) {
            if (seen >= 0 && seen < count && seen >= first) expect(seen >= from && seen < to).toBe(true)
          }
        },
      ),
    )
  })
})

describe('filters of runs', () => {
  it('are what the address says, without what the service would refuse', () => {
    const filters = filtersOf(
      new URLSearchParams('kind=agent&status=broken&name=helper&view=json&sessionId=&since=never'),
    )
    expect(filters).toEqual({ kind: 'agent', name: 'helper' })
  })

  it('have times by the clock of the reader', () => {
    const { since, until } = askedOf(filtersOf(new URLSearchParams('since=2026-01-01T12:30')))
    expect(since).toEqual(new Date(2026, 0, 1, 12, 30))
    expect(until).toBeUndefined()
  })

  it('come back from the address as they were', () => {
    const filter = fc.record(
      {
        kind: fc.constantFrom('agent' as const, 'team' as const, 'workflow' as const),
        search: fc.constantFrom('lamp', 'a % b'),
        last: fc.constantFrom('hour', 'week'),
        sort: fc.constantFrom('took' as const, 'cost' as const),
        quick: fc.constantFrom('slow' as const),
        status: fc.constantFrom('running' as const, 'failed' as const),
        name: fc.string({ minLength: 1 }),
        sessionId: fc.string({ minLength: 1 }),
        since: fc.constant('2026-01-01T12:30'),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(filter, filters => {
        expect(filtersOf(new URLSearchParams(queryOf(filters)))).toEqual(filters)
      }),
    )
  })
})

describe('a run and the filters', () => {
  it('fits those that it meets, and only the service knows of a search', () => {
    const now = new Date().toISOString()
    const fresh = run('a', { createdAt: now, sessionId: 's', waiting: true })
    expect(fits(fresh, { kind: 'agent', name: 'helper', sessionId: 's', last: 'hour' })).toBe(true)
    expect(fits(fresh, { status: 'waiting' })).toBe(true)
    expect(fits(fresh, { status: 'failed' })).toBe(false)
    expect(fits(run('a'), { last: 'hour' })).toBe(false)
    expect(fits(fresh, { until: '2026-01-01T12:30' })).toBe(false)
    expect(fits(fresh, { search: 'lamp' })).toBeUndefined()
    expect(fits(fresh, { search: 'lamp', kind: 'team' })).toBe(false)
  })
})

const run = (id: string, more: Partial<RunSummary> = {}): RunSummary => ({
  id,
  kind: 'agent',
  name: 'helper',
  status: 'completed',
  createdAt: '2026-01-01T12:00:00.000Z',
  updatedAt: '2026-01-01T12:00:03.200Z',
  ...more,
})

describe('numbers of runs', () => {
  it('tell what a run is about: its input, or its error, or its name', () => {
    const error = { code: 'agent_failed', message: '\n  The model is away.\nat once' }
    expect(headlineOf(run('a', { title: 'Where is it?', error }))).toBe('Where is it?')
    expect(headlineOf(run('a', { error }))).toBe('The model is away.')
    expect(headlineOf(run('a'))).toBe('helper')
  })

  it('tell the cost that the service counts, or that the run tells', () => {
    const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3, cost: 0.5 }
    expect([costOf(run('a')), costOf(run('a', { usage })), costOf(run('a', { usage, cost: 0.25 }))]).toEqual([
      undefined,
      0.5,
      0.25,
    ])
  })

  it('sort runs by what they took, the greatest first and unknown ones last', () => {
    const runs = [run('a', { durationMs: 1 }), run('b', { status: 'running' }), run('c', { durationMs: 9 })]
    const ids = (all: readonly Listed[]) => all.map(({ id }) => id).join('')
    expect(ids(sorted(runs, 'took'))).toBe('cab')
    expect(ids(sorted(runs, undefined))).toBe('abc')
  })

  it('find the runs far above the middle', () => {
    const times = [10, 10, 12, 11, 100, 31, 37]
    const runs = times.map((durationMs, index) => run(`${index}`, { durationMs }))
    expect(outliers(runs, 'slow').map(({ durationMs }) => durationMs)).toEqual([100, 37])
    expect(outliers(runs, 'costly')).toEqual([])
    expect(outliers([], 'slow')).toEqual([])
    fc.assert(
      fc.property(fc.array(fc.nat(1000)), all => {
        const found = outliers(
          all.map((durationMs, index) => run(`${index}`, { durationMs })),
          'slow',
        )
        expect(found.length).toBeLessThanOrEqual(Math.ceil(all.length / 2))
      }),
    )
  })

  it('count runs by the status that people see', () => {
    const runs = [
      run('a'),
      run('b', { status: 'input_required' }),
      run('c', { status: 'input_required', continuedBy: 'd' }),
    ]
    expect(countsOf(runs)).toEqual({ completed: 1, input_required: 1, answered: 1 })
  })

  it('have quantiles', () => {
    expect([quantile([], 0.5), quantile([3], 0.95), quantile([1, 2, 3, 4], 0.5)]).toEqual([undefined, 3, 3])
  })

  it('derive how long a run took from its record', () => {
    expect(tookMs(run('a'))).toBe(3200)
    expect(tookMs(run('a', { durationMs: 7 }))).toBe(7)
    expect(tookMs(run('a', { status: 'input_required' }))).toBeUndefined()
  })
})

describe('a list that is read again', () => {
  it('begins with what is new, and keeps the rest in its place', () => {
    const before = [run('b', { status: 'running' }), run('a')]
    const after = merged(before, [run('c'), run('b')])
    expect(after.map(({ id, status }) => `${id} ${status}`)).toEqual([
      'c completed',
      'b completed',
      'a completed',
    ])
  })

  it('has each run once', () => {
    const ids = fc.uniqueArray(fc.string({ maxLength: 2 }))
    fc.assert(
      fc.property(ids, ids, (old, fresh) => {
        const all = merged(
          old.map(id => run(id)),
          fresh.map(id => run(id)),
        ).map(({ id }) => id)
        expect(all).toHaveLength(new Set(all).size)
        expect(new Set(all)).toEqual(new Set([...old, ...fresh]))
      }),
    )
  })
})

const waiting = (id: string): WaitingRequest => ({
  request: { id, kind: 'approval', toolName: 'pay', digest: id },
  run: { id: 'run', kind: 'agent', name: 'payer' },
  createdAt: '2026-01-01T12:00:00.000Z',
})

describe('the inbox', () => {
  it('follows what comes and goes', () => {
    let inbox: Inbox = new Map()
    const ids = () => [...inbox.keys()]
    inbox = inboxAfter(inbox, { type: 'all', approvals: [waiting('a'), waiting('b')], hasMore: false })
    inbox = inboxAfter(inbox, { type: 'added', approval: waiting('c') })
    inbox = inboxAfter(inbox, { type: 'removed', id: 'a' })
    expect(ids()).toEqual(['b', 'c'])
    inbox = inboxAfter(inbox, { type: 'all', approvals: [waiting('d')], hasMore: false })
    expect(ids()).toEqual(['d'])
  })

  it('moves nothing that is shown', () => {
    const ids = fc.uniqueArray(fc.string({ maxLength: 2 }))
    fc.assert(
      fc.property(ids, ids, (old, fresh) => {
        const inbox: Inbox = new Map(fresh.map(id => [id, waiting(id)]))
        const all = inStableOrder(old.map(waiting), [inbox]).map(({ request }) => request.id)
        expect(all.slice(0, old.length)).toEqual(old)
        expect(all.slice(old.length)).toEqual(fresh.filter(id => !old.includes(id)))
      }),
    )
  })
})

describe('a request of the inbox', () => {
  const of = (name: string, request: Partial<WaitingRequest['request']>): WaitingRequest => {
    const { run, ...more } = waiting(name)
    return { ...more, run: { ...run, name }, request: { ...more.request, ...request } }
  }

  it.each<[string, Partial<WaitingRequest['request']>]>([
    ['50, Tom', { args: { amount: 50, deep: { a: 1 }, to: 'Tom' } }],
    ['Which size?', { message: '\nWhich size?\nS or M' }],
    ['pay', { args: {} }],
    ['payer', { toolName: undefined }],
  ])('is told as %j', (line, request) => {
    expect(lineOf(of('payer', request))).toBe(line)
  })

  it('is in the group of its agent and its tool', () => {
    const all = [
      of('payer', { id: '1' }),
      of('tailor', { id: '2', kind: 'question', toolName: undefined }),
      of('payer', { id: '3', toolName: 'refund' }),
      of('payer', { id: '4' }),
    ]
    const told = groupsOf(all).map(({ name, tool, waiting }) => [name, tool, waiting.length])
    expect(told).toEqual([
      ['payer', 'pay', 2],
      ['tailor', undefined, 1],
      ['payer', 'refund', 1],
    ])
    const ids = (filter: object) =>
      all.filter(each => isListed(each, filter)).map(({ request }) => request.id)
    expect(ids({ agent: 'payer' })).toEqual(['1', '3', '4'])
    expect(ids({ agent: 'payer', tool: 'refund' })).toEqual(['3'])
    expect(all.map(wishOf).slice(0, 2)).toEqual(['payer wants pay', 'tailor asks'])
  })
})

describe('the facts of a card', () => {
  const agent = new Agent({ name: 'shout', register: false, description: 'Says it louder', run: String })
  const card = agentCard(agent, { url: 'https://agents.example.com' })

  it('are read from a card as it is sent', () => {
    const { name, capabilities, skills, addresses } = factsOf({ ...card })
    expect(name).toBe('shout')
    expect(capabilities).toContain('streaming')
    expect(skills.map(({ id }) => id)).toEqual(['shout'])
    expect(addresses.length).toBeGreaterThan(0)
    for (const { url, how } of addresses) expect(`${url} ${how}`).toMatch(/^https:\S+ (JSONRPC|HTTP\+JSON)/)
  })

  it('are empty where a card is none', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), value => {
        expect(factsOf({ ...value, skills: value.skills, name: 1 }).name).toBe('')
      }),
    )
  })
})

describe('the definition of a tool server', () => {
  const typed = (fields: Readonly<Record<string, string>>) => {
    const form = new FormData()
    for (const [name, value] of Object.entries({ name: ' weather ', ...fields })) form.set(name, value)
    return form
  }

  it('has what was typed, and nothing of empty fields', () => {
    const headers = 'authorization: Bearer a:b\r\n\r\n x-team : one'
    const url = 'https://tools.example.com/mcp '
    expect(
      definitionOf(
        typed({ transport: 'http', url, headers, autoConnect: 'on', needsApproval: ' refund, pay ' }),
      ),
    ).toEqual({
      name: 'weather',
      transport: 'http',
      autoConnect: true,
      url: 'https://tools.example.com/mcp',
      headers: { authorization: 'Bearer a:b', 'x-team': 'one' },
      needsApproval: ['refund', 'pay'],
    })
    const program = { transport: 'stdio', command: 'x', args: 'a b\nc', env: 'A=1=2', needsApproval: '*' }
    expect(definitionOf(typed(program))).toEqual({
      name: 'weather',
      transport: 'stdio',
      autoConnect: false,
      command: 'x',
      args: ['a b', 'c'],
      env: { A: '1=2' },
      needsApproval: true,
    })
    const signsIn = {
      'auth.type': 'authorization_code',
      'auth.clientId': ' console ',
      'auth.scopes': 'a b,c',
    }
    expect(definitionOf(typed({ transport: 'http', ...signsIn, elicitation: 'on' }))).toEqual({
      ...{ name: 'weather', transport: 'http', autoConnect: false, elicitation: 'ask' },
      auth: { type: 'authorization_code', clientId: 'console', scopes: ['a', 'b', 'c'] },
    })
    const issuer = 'https://login.example.com'
    const own = { 'auth.type': 'client_credentials', 'auth.clientId': 'x', 'auth.clientSecret': 'y' }
    expect(definitionOf(typed({ transport: 'sse', ...own, 'auth.issuer': issuer }))).toMatchObject({
      auth: { type: 'client_credentials', clientId: 'x', clientSecret: 'y', issuer },
    })
    // What was typed before another way was chosen is not sent.
    expect(definitionOf(typed({ transport: 'http', ...own, 'auth.type': '' }))).not.toHaveProperty('auth')
    expect(definitionOf(typed({ transport: 'http', url: '', headers: '', needsApproval: '' }))).toEqual({
      ...{ name: 'weather', transport: 'http', autoConnect: false },
    })
  })
})

describe('what is wrong with a form', () => {
  const has = (name: string) => ['scopes', 'rate', 'a.b'].includes(name)

  it('is said of the field that a path is inside of', () => {
    expect(
      wrongIn(
        [
          { path: 'scopes.0', message: 'must be one of read, run' },
          { path: 'scopes.1', message: '`scopes` is empty' },
          { path: 'a.b.c', message: 'Please fill out this field.' },
          { path: 'other.0', message: 'is missing' },
          { path: '', message: 'must be a JSON object' },
        ],
        has,
      ),
    ).toEqual({
      scopes: 'This must be one of read, run. This is empty.',
      'a.b': 'Please fill out this field.',
      '': '`other.0` is missing. This must be a JSON object.',
    })
  })

  it('is said once, of a field that is there or of none', () => {
    const issue = fc.record({ path: fc.string(), message: fc.string({ minLength: 1 }) })
    fc.assert(
      fc.property(fc.array(issue), issues => {
        for (const name of Object.keys(wrongIn(issues, has))) expect(name === '' || has(name)).toBe(true)
        expect(Object.keys(wrongIn(issues, has)).length > 0).toBe(issues.length > 0)
      }),
    )
  })
})

describe('texts', () => {
  it('show what cannot be seen, and mean the same as JSON', () => {
    expect(visible('a\u202eb\u{e0041}\n')).toBe('a\\u202eb\\udb40\\udc41\n')
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: codePoint }), value => {
        const text = JSON.stringify(value)
        const shown = visible(text)
        expect(shown).not.toMatch(/\p{Cf}/u)
        expect(JSON.stringify(JSON.parse(shown))).toBe(JSON.stringify(JSON.parse(text)))
      }),
    )
  })

  it('are typed as JSON, or else as they are', () => {
    expect(['7', '{"a":1}', 'Oslo', '"7"'].map(typedValue)).toEqual([7, { a: 1 }, 'Oslo', '7'])
  })

  it('say how long ago something was', () => {
    const texts = [-5, 900, 59_999, 60_000, 7_200_000, 90_000_000].map(age)
    expect(texts).toEqual(['0 s', '0 s', '59 s', '1 min', '2 h', '1 d'])
  })

  it('name the parts of a message that are no text', () => {
    const file = { type: 'file', data: 'eA==', mimeType: 'text/plain', filename: 'a.txt' } as const
    const image = { type: 'image', data: 'eA==' } as const
    expect(textOfInput([{ type: 'text', text: 'look' }, file, image, { type: 'data', data: { a: 1 } }])).toBe(
      'look\n[a.txt]\n[image]\n{"a":1}',
    )
  })
})

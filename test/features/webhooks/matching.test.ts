import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { createMatcher, matches } from '../../../src/features/webhooks/matching.ts'
import { type DeploymentWebhook, EVENTS } from '../../../src/features/webhooks/options.ts'

const owners = fc.constantFrom('ann', 'bob', 'cy')
const names = fc.constantFrom('echo', 'desk', 'team/desk', 'workflow/echo', 'agent/desk', 'none')
const webhook = fc.record({
  id: fc.uuid(),
  url: fc.constant('https://example.com/'),
  keys: fc.constant([]),
  events: fc.option(fc.subarray([...EVENTS], { minLength: 1 }), { nil: undefined }),
  agents: fc.option(fc.array(names, { maxLength: 3 }), { nil: undefined }),
  owners: fc.option(fc.array(owners, { maxLength: 3 }), { nil: undefined }),
})
const happened = fc.record({
  type: fc.constantFrom(...EVENTS),
  owner: fc.option(owners),
  run: fc.record({
    kind: fc.constantFrom('agent', 'team', 'workflow'),
    name: fc.constantFrom('echo', 'desk'),
  }),
})

describe('a matcher', () => {
  it('finds each subscription that hears of an event, once, and no other', () => {
    fc.assert(
      fc.property(fc.array(webhook, { maxLength: 20 }), happened, (all, what) => {
        const isMeant = ({ events, agents, owners }: DeploymentWebhook) =>
          (events?.includes(what.type) ?? true) &&
          (owners === undefined || (what.owner !== null && owners.includes(what.owner))) &&
          (agents === undefined ||
            agents.includes(`${what.run.kind}/${what.run.name}`) ||
            (what.run.kind === 'agent' && agents.includes(what.run.name)))
        const found = createMatcher(all)(what).map(({ id }) => id)
        expect(found.toSorted()).toEqual(
          all
            .filter(isMeant)
            .map(({ id }) => id)
            .toSorted(),
        )
      }),
    )
  })

  it('looks at no subscription of other owners and agents', () => {
    const looked = vi.fn()
    const others = Array.from({ length: 1000 }, (_, index) => ({
      id: `w${index}`,
      url: 'https://example.com/',
      keys: [],
      owners: index % 2 === 0 ? [`owner-${index}`] : undefined,
      agents: [`agent-${index}`],
      get events() {
        looked()
        return undefined
      },
    }))
    const match = createMatcher(others)
    const what = { type: 'run.completed', owner: 'ann', run: { kind: 'agent', name: 'echo' } } as const
    expect(match(what)).toEqual([])
    expect(looked).not.toHaveBeenCalled()
    expect(matches({}, what)).toBe(true)
  })
})

import { describe, expect, it } from 'vitest'
import { Agent, createHandler } from '../../../src/core-entry.ts'
import { type WebhooksOptions, webhooks } from '../../../src/features/webhooks/plugin.ts'

const secret = btoa('x'.repeat(32))
const own = { id: 'own', url: 'https://example.com/hook', secret }

describe('the options of webhooks', () => {
  it.each<[options: unknown, text: RegExp]>([
    [{ subscriptions: [{ ...own, id: '' }] }, /webhooks\.subscriptions\.0\.id/],
    [{ subscriptions: [{ ...own, id: 'a.b' }] }, /webhooks\.subscriptions\.0\.id/],
    [{ subscriptions: [{ ...own, id: 'wh_1' }] }, /webhooks\.subscriptions\.0\.id/],
    [{ subscriptions: [{ ...own, id: 'run' }] }, /webhooks\.subscriptions\.0\.id/],
    [{ subscriptions: [own, own] }, /ids that differ/],
    [{ subscriptions: [{ ...own, url: 'example.com' }] }, /subscriptions\.0\.url/],
    [{ subscriptions: [{ ...own, url: 'ftp://example.com' }] }, /subscriptions\.0\.url/],
    [{ subscriptions: [{ ...own, secret: 'c2hvcnQ=' }] }, /subscriptions\.0\.secret/],
    [{ subscriptions: [{ ...own, secret: btoa('x'.repeat(65)) }] }, /subscriptions\.0\.secret/],
    [{ subscriptions: [{ ...own, secret: [] }] }, /subscriptions\.0\.secret/],
    [{ subscriptions: [{ ...own, secret: undefined }] }, /subscriptions\.0\.secret/],
    [{ subscriptions: [{ ...own, events: [] }] }, /subscriptions\.0\.events/],
    [{ subscriptions: [{ ...own, events: ['run.begun'] }] }, /subscriptions\.0\.events/],
    [{ subscriptions: own }, /webhooks\.subscriptions/],
    [{ clients: 'yes' }, /webhooks\.clients/],
    [{ clients: { maxPerOwner: 0 } }, /webhooks\.clients/],
    [{ runs: {} }, /webhooks\.runs/],
    [{ runs: { secret: 'x' } }, /webhooks\.runs\.secret/],
    [{ maxTries: 0 }, /webhooks\.maxTries/],
    [{ timeoutMs: 2 ** 31 }, /webhooks\.timeoutMs/],
    [{ unknown: 1 }, /webhooks\.unknown/],
  ])('refuse %o', (options, text) => {
    const wrong = { code: 'invalid_options', message: expect.stringMatching(text) }
    expect(() => webhooks(options as WebhooksOptions)).toThrow(expect.objectContaining(wrong))
    try {
      webhooks(options as WebhooksOptions)
    } catch (error) {
      expect(String(error)).not.toContain(secret)
    }
  })

  it('need a state', () => {
    const echo = new Agent({ name: 'echo', register: false, run: () => 'hi' })
    expect(() => createHandler({ agents: { echo }, plugins: [webhooks()] })).toThrow(/stores data/)
  })
})

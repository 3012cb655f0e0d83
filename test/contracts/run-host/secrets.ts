import { expect, it } from 'vitest'
import { begin, ending, type Hosted, newKey, unique } from './kit.ts'

export function secretCases(hosted: Hosted): void {
  it('are in no row that is stored, though the run fails with one in its message', async () => {
    const { host, stored } = hosted()
    const [apiKey, openai] = [unique('canary-one'), unique('canary-two')]
    const [owner, key, said] = [unique('owner'), newKey(), unique('said')]
    const options = { apiKey, apiKeys: { openai, any: apiKey }, sessionId: 's', userId: 'u' }
    const acts = [{ say: said }, { leak: true }] as const
    const { id: runId } = await begin(host, acts, { owner, key, options })
    const record = await ending(host, runId, owner)
    expect(record.status).toBe('failed')
    expect(JSON.stringify(record)).not.toMatch(/canary/)
    const everything = await stored({ runId, owner, keyId: key.id })
    expect(everything).toContain(said)
    expect(everything).toContain(owner)
    expect(everything).not.toContain(apiKey)
    expect(everything).not.toContain(openai)
  })

  it('are in no row of a run at work', async () => {
    const { host, stored } = hosted()
    const [apiKey, owner, key, said] = [unique('canary'), unique('owner'), newKey(), unique('said')]
    const acts = [{ say: said }, { gate: unique('never') }]
    const { id: runId } = await begin(host, acts, { owner, key, options: { apiKey } })
    const follower = await host.follow(runId, owner, 0)
    await follower.next()
    const everything = await stored({ runId, owner, keyId: key.id })
    expect(everything).toContain(said)
    expect(everything).not.toContain(apiKey)
    follower.leave()
    await host.cancel(runId, owner)
  })
}

import { expect, it } from 'vitest'
import { begin, ending, type Hosted, unique, until, waitFor } from './kit.ts'

const never = () => ({ gate: unique('never') })

/** The cases with the policy `cancel`. */
export function leaveCases(hosted: Hosted): void {
  it('cancels its run, being the last one', async () => {
    const { host, wasStopped } = hosted()
    const { id } = await begin(host, [{ say: 'hi' }, never()], { isBackground: false })
    const [one, two] = [await host.follow(id, null, 0), await host.follow(id, null, 0)]
    await one.next()
    await two.next()
    one.leave()
    expect((await host.get(id, null)).status).toBe('running')
    two.leave()
    await until(host, id, 'cancelled')
    expect((await host.get(id, null)).result?.text).toBe('hi')
    await waitFor(() => wasStopped(id))
  })

  it('leaves a run in the background alone', async () => {
    const { host, openGate, wasStopped } = hosted()
    const gate = unique('gate')
    const { id } = await begin(host, [{ say: 'hi' }, { gate }])
    const follower = await host.follow(id, null, 0)
    await follower.next()
    follower.leave()
    await openGate(gate)
    expect((await ending(host, id)).status).toBe('completed')
    expect(await wasStopped(id)).toBe(false)
  })

  it('changes nothing about a run that has ended', async () => {
    const { host } = hosted()
    const { id } = await begin(host, [{ say: 'hi' }], { isBackground: false })
    const follower = await host.follow(id, null, 0)
    const record = await ending(host, id)
    follower.leave()
    expect(record.status).toBe('completed')
    expect(await host.get(id, null)).toEqual(record)
  })
}

/** The cases with the policy `continue`. */
export function continueCases(hosted: Hosted): void {
  it('goes on when the last follower has left', async () => {
    const { host, openGate, wasStopped } = hosted()
    const gate = unique('gate')
    const { id } = await begin(host, [{ say: 'hi' }, { gate }, { say: '!' }], { isBackground: false })
    const follower = await host.follow(id, null, 0)
    await follower.next()
    follower.leave()
    await openGate(gate)
    expect((await ending(host, id)).result?.text).toBe('hi!')
    expect(await wasStopped(id)).toBe(false)
  })
}

/** The cases with a grace period. */
export function graceCases(hosted: Hosted): void {
  it('cancels a run to which nobody comes back', async () => {
    const { host, wasStopped } = hosted()
    const { id } = await begin(host, [{ say: 'hi' }, never()], { isBackground: false })
    const follower = await host.follow(id, null, 0)
    await follower.next()
    follower.leave()
    expect((await host.get(id, null)).status).toBe('running')
    await until(host, id, 'cancelled')
    await waitFor(() => wasStopped(id))
  })

  it('goes on with a run to which someone comes back in time', async () => {
    const { host, openGate } = hosted()
    const gate = unique('gate')
    const { id } = await begin(host, [{ say: 'hi' }, { gate }, { say: '!' }], { isBackground: false })
    const { id: other } = await begin(host, [never()], { isBackground: false })
    const gone = await host.follow(id, null, 0)
    await gone.next()
    gone.leave()
    const back = await host.follow(id, null, 1)
    // By the time that another run, left later, is cancelled, the first one's grace period is over.
    const left = await host.follow(other, null, 0)
    left.leave()
    await until(host, other, 'cancelled')
    expect((await host.get(id, null)).status).toBe('running')
    await openGate(gate)
    expect((await back.next())?.[0]).toMatchObject({ seq: 2 })
    expect((await ending(host, id)).result?.text).toBe('hi!')
    back.leave()
  })

  it('leaves a run in the background alone', async () => {
    const { host, openGate } = hosted()
    const gate = unique('gate')
    const { id } = await begin(host, [{ gate }])
    const { id: other } = await begin(host, [never()], { isBackground: false })
    for (const run of [id, other]) (await host.follow(run, null, 0)).leave()
    await until(host, other, 'cancelled')
    await openGate(gate)
    expect((await ending(host, id)).status).toBe('completed')
  })
}

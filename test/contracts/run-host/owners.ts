import { expect, it } from 'vitest'
import { begin, ending, type Hosted, listAll, read, unique } from './kit.ts'

export function ownerCases(hosted: Hosted): void {
  it('read, follow and cancel their own runs', async () => {
    const { host } = hosted()
    const owner = unique('owner')
    const { id } = await begin(host, [{ say: 'hi' }, { gate: unique('never') }], { owner })
    expect((await host.get(id, owner)).id).toBe(id)
    const follower = await host.follow(id, owner, 0)
    expect(await follower.next()).toMatchObject([{ seq: 1 }])
    expect((await host.cancel(id, owner)).status).toBe('cancelled')
  })

  it.each([null, 'someone-else', '', 'Owner'])('are the only ones who do: not %j', async viewer => {
    const { host, openGate } = hosted()
    const gate = unique('gate')
    const { id } = await begin(host, [{ gate }], { owner: 'owner' })
    const notFound = { code: 'run_not_found' }
    await expect(host.get(id, viewer)).rejects.toMatchObject(notFound)
    await expect(host.follow(id, viewer, 0)).rejects.toMatchObject(notFound)
    await expect(ending(host, id, viewer)).rejects.toMatchObject(notFound)
    await expect(host.cancel(id, viewer)).rejects.toMatchObject(notFound)
    expect((await host.list(viewer, { limit: 100 })).runs.map(run => run.id)).not.toContain(id)
    await openGate(gate)
    expect((await ending(host, id, 'owner')).status).toBe('completed')
    await expect(host.cancel(id, viewer)).rejects.toMatchObject(notFound)
  })

  it('do not hide a run from an administrator who knows its id', async () => {
    const { host } = hosted()
    const owner = unique('owner')
    const { id } = await begin(host, [{ say: 'hi' }], { owner })
    await ending(host, id, owner)
    expect(await host.find(id)).toMatchObject([{ id, owner, status: 'completed' }])
    // Logs show the whole id of a run with an owner.
    expect(await host.find(id.slice(0, 8))).toEqual([])
  })

  it('do not hide a run without one from an administrator who knows the beginning of its id', async () => {
    const { host } = hosted()
    const { id } = await begin(host, [{ gate: unique('never') }])
    for (const ref of [id, id.slice(0, 8)]) {
      expect(await host.find(ref)).toMatchObject([{ id, owner: null, status: 'running' }])
    }
    await host.cancel(id, null)
    expect(await host.find(id.slice(0, 8))).toMatchObject([{ id, status: 'cancelled' }])
    expect(await host.find('00000000')).toEqual([])
  })

  it('leave a run without one to everyone who knows its id', async () => {
    const { host } = hosted()
    const { id } = await begin(host, [{ say: 'hi' }])
    for (const viewer of [null, 'anyone']) {
      expect((await ending(host, id, viewer)).id).toBe(id)
      expect(await read(host, id, 0, viewer)).toHaveLength(2)
    }
    expect(await listAll(host, 'anyone', { limit: 100 })).toEqual([])
  })

  it('have names of any kind', async () => {
    const { host } = hosted()
    for (const owner of ['anonymous', 'owner:x', '__proto__', '😀"\'\u0000', 'a/b?c#d']) {
      const { id } = await begin(host, [{ say: 'hi' }], { owner })
      expect((await ending(host, id, owner)).status).toBe('completed')
      expect((await listAll(host, owner, { limit: 100 })).map(run => run.id)).toEqual([id])
    }
  })
}

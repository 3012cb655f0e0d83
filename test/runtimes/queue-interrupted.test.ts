/**
 * Runs that wait while their process dies, closes, or has others beside it.
 *
 * @module-tag long
 */
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { atWork, reaches, sendForTask, TONGUES } from '../contracts/a2a/client.ts'
import { newFolder } from '../contracts/run-host/folder.ts'
import { accept, as, get, isNoted, noted, openGate, own, type Server } from '../contracts/runs/client.ts'
import { eventually } from '../eventually.ts'
import { LONG } from '../tags.ts'
import { type Runtime, startNode } from './harness.ts'

/** Starts processes on one file, each by a call. */
async function street(): Promise<() => Promise<{ readonly server: Server; readonly runtime: Runtime }>> {
  const folder = await newFolder()
  onTestFinished(folder.remove)
  return async () => {
    const env = { DATABASE: join(folder.path, 'queue.db') }
    const runtime = await startNode('test/contracts/queue/service.ts', { env })
    onTestFinished(() => runtime.stop())
    return { runtime, server: () => ({ ...runtime, folder: folder.path }) }
  }
}

async function gated(server: Server, owner: Record<string, string>) {
  const gate = own('gate')
  return { gate, ...(await accept(server, 'agents/gated', { input: gate }, owner)) }
}

it('starts after a crash: each one, and no more at a time than before', LONG, async () => {
  const start = await street()
  const one = await start()
  const owner = as(own('owner'))
  const busy = [await gated(one.server, owner), await gated(one.server, owner)]
  const waiting: Awaited<ReturnType<typeof gated>>[] = []
  for (let count = 0; count < 3; count++) waiting.push(await gated(one.server, owner))
  await one.runtime.kill()
  const { server } = await start()
  for (const { id } of busy)
    await eventually(async () => expect(await get(server, id, owner)).toMatchObject({ status: 'failed' }))
  // The one that the dead process was about to start comes after those that nobody had taken.
  const started = async () => {
    const told = await Promise.all(waiting.map(({ gate }) => isNoted(server, `${gate} started`)))
    return told.filter(Boolean).length
  }
  await eventually(async () => expect(await started()).toBe(2))
  for (const { gate } of waiting) await openGate(server, gate)
  for (const { id } of waiting)
    await eventually(async () => expect(await get(server, id, owner)).toMatchObject({ status: 'completed' }))
})

it('starts A2A tasks after a crash: each one once', LONG, async () => {
  const start = await street()
  const one = await start()
  const headers = as(own('owner'))
  for (let count = 0; count < 2; count++) await atWork(one.server, TONGUES.rpc1, { headers })
  const waiting = []
  for (let count = 0; count < 3; count++) {
    const gate = own('gate')
    const sending = { agent: 'gated', text: gate, wait: false, headers }
    const { id, state } = await sendForTask(one.server, TONGUES.rpc1, sending)
    expect(state).toBe('submitted')
    waiting.push({ id, gate })
  }
  await one.runtime.kill()
  const { server } = await start()
  for (const { gate } of waiting) await openGate(server, gate)
  for (const { id } of waiting) {
    const { artifacts, history } = await reaches(server, TONGUES.rest1, id, 'completed', { headers })
    expect(artifacts[0]?.text).toBe('before after')
    expect(history).toHaveLength(1)
  }
})

it('starts what a process that was stopped has left', LONG, async () => {
  const start = await street()
  const one = await start()
  const owner = as(own('owner'))
  for (let count = 0; count < 2; count++) await gated(one.server, owner)
  const waiting = await gated(one.server, owner)
  await one.runtime.stop()
  const { server } = await start()
  await noted(server, `${waiting.gate} started`)
  await openGate(server, waiting.gate)
  const done = { status: 'completed' }
  await eventually(async () => expect(await get(server, waiting.id, owner)).toMatchObject(done))
})

it('starts each once, however many processes there are', LONG, async () => {
  const start = await street()
  const servers = (await Promise.all([start(), start()])).map(({ server }) => server)
  const [one, two] = servers as [Server, Server]
  const owner = as(own('owner'))
  const busy = [await gated(one, owner), await gated(two, owner)]
  const waiting = [await gated(one, owner), await gated(two, owner), await gated(one, owner)]
  const startedIn = async ({ gate }: { readonly gate: string }) => {
    const told = await Promise.all(servers.map(server => isNoted(server, `${gate} started`)))
    return told.filter(Boolean).length
  }
  for (const { gate } of waiting) expect(await startedIn({ gate })).toBe(0)
  for (const { gate } of [...busy, ...waiting]) for (const server of servers) await openGate(server, gate)
  for (const { id } of waiting)
    await eventually(async () => expect(await get(one, id, owner)).toMatchObject({ status: 'completed' }))
  for (const run of waiting) expect(await startedIn(run)).toBe(1)
})

import { describe, expect, it } from 'vitest'
import { createHandler, type GatewayOptions, textOf } from '../../../../src/index.ts'
import { eventually } from '../../../eventually.ts'
import { connect, settled } from './wire.ts'

/** A gateway whose `authenticate` answers when it is told to. */
function make(gateway: GatewayOptions = {}) {
  const opened = Promise.withResolvers<void>()
  const runs: string[] = []
  const handler = createHandler({
    registry: false,
    logger: false,
    agents: {
      echo: {
        async run(input) {
          runs.push(textOf(input))
          return { text: 'x' } as never
        },
      },
    },
    gateway: {
      ...gateway,
      async authenticate() {
        await opened.promise
        return { id: 'ann' }
      },
    },
  })
  return { handler, runs, open: opened.resolve }
}

describe('while it is not known yet who connects', () => {
  it('no more sockets of one identity come in than may be', async () => {
    const { handler, open } = make({ limits: { maxSocketsPerIdentity: 2 } })
    const wires = await Promise.all(Array.from({ length: 10 }, () => connect(handler)))
    for (const wire of wires) wire.says('{"event":"connect"}')
    open()
    await settled()
    const first = wires.map(({ got }) => JSON.parse(got[0] ?? '{}').event)
    expect(first.filter(event => event === 'connect')).toHaveLength(2)
    expect(first.filter(event => event === 'connect_error')).toHaveLength(8)
    wires.find(({ closed }) => closed === undefined)?.close()
    const next = await connect(handler)
    next.says('{"event":"connect"}')
    await settled()
    expect(next.got[0]).toContain('"connect"')
  })

  it('a connection that broke starts nothing of what it had sent', async () => {
    const { handler, open, runs } = make()
    const wire = await connect(handler)
    wire.says('{"event":"connect"}')
    wire.says('{"event":"connect"}')
    for (let run = 0; run < 10; run++) {
      wire.says(JSON.stringify({ event: 'agent.run', data: { name: 'echo', input: `run ${run}` } }))
    }
    open()
    await settled()
    expect([wire.closed, runs]).toEqual([1002, []])
  })

  it('so much and no more is kept of what it sends', async () => {
    const { handler } = make()
    const wire = await connect(handler)
    for (let frame = 0; frame < 100; frame++) wire.says('{"event":"agent.run"}')
    expect(wire.closed).toBe(1002)
  })
})

describe('stored runs of clients without an identity', () => {
  it('are counted by address, over all their sockets', async () => {
    const handler = createHandler({
      registry: false,
      logger: false,
      agents: { waits: { run: () => new Promise<never>(() => {}) } },
      gateway: true,
      runs: { maxRunningPerOwner: 2, timeoutMs: 5000 },
    })
    const begin = async (ip: string | undefined) => {
      const wire = await connect(handler, ip === undefined ? {} : { ip })
      const data = { name: 'waits', input: 'x', background: true, userId: crypto.randomUUID() }
      wire.says(JSON.stringify({ event: 'agent.run', data, id: 1 }))
      await eventually(() => expect(wire.got.some(got => got.includes('"ack"'))).toBe(true))
      return JSON.parse(wire.got.find(got => got.includes('"ack"')) ?? '').data.code as string | undefined
    }
    const codes = []
    for (const ip of ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2', undefined])
      codes.push(await begin(ip))
    expect(codes).toEqual([undefined, undefined, 'too_many_runs', undefined, undefined])
  })
})

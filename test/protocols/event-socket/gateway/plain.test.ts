import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { createHandler, memoryState, textOf } from '../../../../src/index.ts'
import { connect, settled } from './wire.ts'

const failures: unknown[] = []
const onRejection = (reason: unknown) => void failures.push(reason)
process.on('unhandledRejection', onRejection)
afterAll(() => void process.off('unhandledRejection', onRejection))

const logged: object[] = []
const handler = createHandler({
  production: true,
  registry: false,
  agents: { echo: { run: async input => ({ text: textOf(input) }) as never } },
  state: memoryState(),
  logger: entry => void (entry.level === 'error' && logged.push(entry)),
  gateway: { limits: { maxEventsPerSecond: 1_000_000, maxSocketsPerIp: 1_000_000 } },
})

const valid = [
  '{"event":"connect","data":{"apiKey":"k"}}',
  '{"event":"agent.run","data":{"name":"echo","input":"one two"},"id":1}',
  '{"event":"agent.run","data":{"name":"echo","input":[{"type":"text","text":"x"}]},"id":"a"}',
  '{"event":"run.cancel","data":{"runId":"none"},"id":2}',
  '{"event":"pong"}',
]

/** A frame with one of its characters changed, left out or doubled. */
const mutated = fc
  .tuple(fc.constantFrom(...valid), fc.nat(200), fc.string({ maxLength: 3 }), fc.nat(3))
  .map(([frame, at, text, gone]) => frame.slice(0, at) + text + frame.slice(at + gone))

const frame = fc.oneof(
  mutated,
  fc.constantFrom(...valid),
  fc.string(),
  fc.json(),
  fc
    .record({ event: fc.string(), data: fc.jsonValue(), id: fc.jsonValue() })
    .map(value => JSON.stringify(value)),
  fc.uint8Array({ maxLength: 20 }),
)

describe('frames of JSON on a plain WebSocket', () => {
  it('are taken, refused or close the connection, whatever they are: 40,000 of them', {
    timeout: 300_000,
  }, async () => {
    const open = await connect(handler)
    open.says('{"event":"connect"}')
    await settled()
    let sent = 0
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { minLength: 8, maxLength: 12 }), async frames => {
        const wire = await connect(handler)
        for (const each of frames) wire.says(each)
        sent += frames.length
        await settled()
        for (const got of wire.got) expect(typeof JSON.parse(got).event).toBe('string')
        expect([undefined, 1002, 1008, 1009]).toContain(wire.closed)
        wire.close()
        open.says('{"event":"run.cancel","data":{"runId":"x"},"id":9}')
        await settled()
        // A ping may come too.
        expect(open.got.join()).toContain('run_not_found')
        open.got.length = 0
      }),
      { numRuns: 4000 },
    )
    expect(sent).toBeGreaterThan(30_000)
    expect(failures).toEqual([])
    expect(logged).toEqual([])
  })
})

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { approvalIdOf, callIdOf, idOf, runOf } from '../../../src/protocols/models/ids.ts'
import { codePoint } from '../../code-point.ts'

const runIds = fc.uuid()
const prefixes = fc.constantFrom('resp', 'msg', 'rs', 'mcp', 'fc', 'in')
const parts = fc.oneof(
  fc.constant(undefined),
  fc.nat().map(at => `_${at}`),
  fc.stringMatching(/^[\da-z]{1,7}$/),
)

/** What is nearly an id: one with something in another place. */
const nearly = fc
  .tuple(runIds, prefixes, fc.nat(60), fc.string({ maxLength: 3 }))
  .map(([runId, prefix, at, put]) => {
    const id = idOf(prefix, runId)
    return id.slice(0, at) + put + id.slice(at)
  })

const foreign = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.string({ unit: codePoint, maxLength: 60 }),
  nearly,
  runIds,
  fc.stringMatching(/^call_[\da-zA-Z]{20,40}$/),
  fc.stringMatching(/^resp_[\da-f]{30,52}$/),
  fc.constantFrom('', 'resp_', 'call_', '__proto__', `call_${'z'.repeat(32)}`, `resp_${'g'.repeat(32)}`),
)

const aRun = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/

describe('ids', () => {
  it('tell their run, and parts apart', () => {
    fc.assert(
      fc.property(
        runIds,
        prefixes,
        parts,
        (runId, prefix, part) => runOf(idOf(prefix, runId, part)) === runId,
      ),
    )
  })

  it('of calls and approvals tell their run, and never each other', () => {
    fc.assert(
      fc.property(runIds, fc.string({ unit: codePoint }), (runId, toolCallId) => {
        const ids = [callIdOf(runId, toolCallId), approvalIdOf(runId, toolCallId)]
        expect(ids.map(runOf)).toEqual([runId, runId])
        expect(ids[0]).not.toBe(ids[1])
        expect(ids[0]).toMatch(/^[\da-z_]{34,40}$/)
      }),
    )
  })

  it('of different calls differ', () => {
    const names = Array.from({ length: 2000 }, (_, at) => `call-${at}`)
    expect(new Set(names.map(name => callIdOf('0190a1b2-c3d4-4e5f-8a9b-0123456789ab', name))).size).toBe(2000)
  })

  it('of anything else tell no run, or one that has a form', () => {
    fc.assert(
      fc.property(foreign, id => {
        const runId = runOf(id)
        if (runId !== undefined) expect(runId).toMatch(aRun)
      }),
      { numRuns: 2000 },
    )
  })

  it.each([
    ['an upper-case one', 'resp_0190A1B2C3D44E5F8A9B0123456789AB'],
    ['one with hyphens', 'resp_0190a1b2-c3d4-4e5f-8a9b-0123456789ab'],
    ['one with a path', 'resp_0190a1b2c3d44e5f8a9b0123456789ab_/../x'],
    ['one with a line', 'resp_0190a1b2c3d44e5f8a9b0123456789ab\n'],
    ['one without a prefix', '0190a1b2c3d44e5f8a9b0123456789ab'],
    ['one with a long part', `resp_${'0'.repeat(53)}`],
  ])('are not read from %s', (_, id) => {
    expect(runOf(id)).toBeUndefined()
  })
})

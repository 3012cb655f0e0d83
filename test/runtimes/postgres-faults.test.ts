/**
 * Processes over one PostgreSQL that meet faults. `bench/kills.ts` does the same for longer.
 *
 * @module-tag long
 */
import { expect } from 'vitest'
import { needing } from '../needing.ts'
import { faults } from './faults/faults.ts'

const { describe, it } = needing('postgresql')

describe('processes that meet faults', () => {
  it('end each run once, in one order of events, and apply each answer once', {
    timeout: 600_000,
  }, async () => {
    const seed = Number(process.env.FAULTS_SEED ?? Math.floor(Math.random() * 1_000_000))
    const { wrong, runs, answersApplied } = await faults({ runs: 40, seed, atOnce: 10 })
    expect(wrong, `FAULTS_SEED=${seed}`).toEqual([])
    expect(runs).toEqual({ order: 10, asks: 10, helper: 10, approved: 10 })
    expect(answersApplied).toBe(20)
  })
})

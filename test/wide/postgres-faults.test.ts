/** Processes over one PostgreSQL that meet faults. `bench/kills.ts` does the same for longer. It needs a quiet machine. */
import process from 'node:process'
import { expect } from 'vitest'
import { needing } from '../needing.ts'
import { faults } from '../runtimes/faults/faults.ts'

const { describe, it } = needing('postgresql')

describe('processes that meet faults', () => {
  it('end each run once, in one order of events, and apply each answer once', {
    timeout: 1_200_000,
  }, async () => {
    const seed = Number(process.env.FAULTS_SEED ?? Math.floor(Math.random() * 1_000_000))
    const { wrong, runs, answersApplied } = await faults({ runs: 400, seed })
    expect(wrong, `FAULTS_SEED=${seed}`).toEqual([])
    expect(runs).toEqual({ order: 100, asks: 100, helper: 100, approved: 100 })
    expect(answersApplied).toBe(200)
  })
})

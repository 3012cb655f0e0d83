/** What a process with a workflow is told, and what it answers. */

import process from 'node:process'

/** Runs in all, and at a time, of a workflow with so many steps. */
export interface Load {
  readonly runs: number
  readonly atOnce: number
  readonly steps: 1 | 3
}

/** Answers with runs a second, as often as it is asked. */
export function answer(run: (text: string, steps: 1 | 3) => Promise<string>): void {
  const one = async (index: number, steps: 1 | 3) => {
    const said = await run(`word ${index}`, steps)
    if (said !== `WORD ${index}`) throw new Error(`a run ended with ${said}`)
  }
  process.on('message', async ({ runs, atOnce, steps }: Load) => {
    const startedAt = performance.now()
    let next = 0
    const client = async () => {
      while (next < runs) await one(next++, steps)
    }
    await Promise.all(Array.from({ length: atOnce }, client))
    process.send?.(runs / ((performance.now() - startedAt) / 1000))
  })
  process.on('disconnect', () => process.exit())
  process.send?.('ready')
}

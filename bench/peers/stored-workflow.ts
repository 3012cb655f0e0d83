/** What a process with a workflow is told, and what it answers. */

import process from 'node:process'

/** Runs in all, and at a time. */
export interface Load {
  readonly runs: number
  readonly atOnce: number
}

/** Answers with runs a second, as often as it is asked. */
export function answer(run: (text: string) => Promise<string>): void {
  const one = async (index: number) => {
    const said = await run(`word ${index}`)
    if (said !== `WORD ${index}`) throw new Error(`a run ended with ${said}`)
  }
  process.on('message', async ({ runs, atOnce }: Load) => {
    const startedAt = performance.now()
    let next = 0
    const client = async () => {
      while (next < runs) await one(next++)
    }
    await Promise.all(Array.from({ length: atOnce }, client))
    process.send?.(runs / ((performance.now() - startedAt) / 1000))
  })
  process.on('disconnect', () => process.exit())
  process.send?.('ready')
}

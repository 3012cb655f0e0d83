/** What a process with workflows and an agent is told, and what it answers. */

import process from 'node:process'

/** A workflow of one step or of three, an agent with two tools, and that agent in a session of its own. */
export type Shape = 'one step' | 'three steps' | 'agent' | 'agent in a session'

/** Runs in all, and at a time, of one shape. */
export interface Load {
  readonly runs: number
  readonly atOnce: number
  readonly shape: Shape
}

/** Answers with runs a second, as often as it is asked. */
export function answer(run: (text: string, shape: Shape) => Promise<string>): void {
  const one = async (index: number, shape: Shape) => {
    const said = await run(`word ${index}`, shape)
    if (said !== `WORD ${index}`) throw new Error(`a run ended with ${said}`)
  }
  process.on('message', async ({ runs, atOnce, shape }: Load) => {
    const startedAt = performance.now()
    let next = 0
    const client = async () => {
      while (next < runs) await one(next++, shape)
    }
    await Promise.all(Array.from({ length: atOnce }, client))
    process.send?.(runs / ((performance.now() - startedAt) / 1000))
  })
  process.on('disconnect', () => process.exit())
  process.send?.('ready')
}

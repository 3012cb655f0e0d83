/**
 * Kills servers with `kill -9` at random moments of their workflows: `node bench/kills.ts [kills] [seed]`. Each of two databases
 * has half of the kills: one has a single process, the other one two, of which one is killed at a time. The exit code is 1 if a workflow does not end well, or an effect comes again that was recorded.
 *
 * `node bench/kills.ts postgres [runs] [seed]` has three processes on one PostgreSQL, and more faults than kills. The exit code is 1
 * if something does not hold of a run.
 */

import { faults, tableOf } from '../test/runtimes/faults/faults.ts'
import { killing, STARTS } from '../test/runtimes/kills.ts'

const newSeed = () => String(Date.now() % 1_000_000)

async function meetFaults([runs = '500', seed = newSeed()]: readonly string[]): Promise<readonly string[]> {
  console.log(`${runs} runs, seed ${seed}`)
  let told = 0
  const figures = await faults({
    runs: Number(runs),
    seed: Number(seed),
    onRound(round, { wrong, ms }) {
      console.log(`round ${round + 1}: ${Math.round(ms / 1000)} s, ${wrong.length} wrong`)
      for (const each of wrong.slice(told)) console.log(each)
      told = wrong.length
    },
  })
  console.log(tableOf(figures))
  return figures.wrong
}

async function kill([kills = '200', seed = newSeed()]: readonly string[]): Promise<readonly string[]> {
  console.log(`${kills} kills, seed ${seed}`)
  const begin = performance.now()
  const all = await Promise.all(
    [1, 2].map(neighbours =>
      killing({
        start: STARTS.Node,
        kills: Math.ceil(Number(kills) / 2),
        seed: Number(seed) + neighbours,
        neighbours,
      }),
    ),
  )
  for (const { wrong, ...figures } of all) console.log(figures, wrong)
  console.log(`${Math.round((performance.now() - begin) / 1000)} s`)
  return all.flatMap(({ wrong }) => wrong)
}

const [first, ...rest] = process.argv.slice(2)
const wrong = await (first === 'postgres' ? meetFaults(rest) : kill(process.argv.slice(2)))
if (wrong.length > 0) process.exitCode = 1

/**
 * Kills servers with `kill -9` at random moments of their workflows: `node bench/kills.ts [kills] [seed]`. Each of two databases
 * has half of the kills: one has a single process, the other one two, of which one is killed at a time. The exit code is 1 if a workflow does not end well, or an effect comes again that was recorded.
 */

import { killing, STARTS } from '../test/runtimes/kills.ts'

const [kills = '200', seed = String(Date.now() % 1_000_000)] = process.argv.slice(2)
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
if (all.some(({ wrong }) => wrong.length > 0)) process.exitCode = 1

/**
 * Many open streams of each server that can hold one: `node bench/peers/open.ts [1000,10000] [rounds]`. Each stream is a connection of
 * its own, on both sides: with 10,000 of them a process needs as many file descriptors (`ulimit -n`).
 */

import { median } from '../measure.ts'
import { type Held, hearsRunLeave, hold } from './holding.ts'
import { installPeers } from './install.ts'
import { PEERS } from './who.ts'

const counts = (process.argv[2] ?? '1000,10000').split(',').map(Number)
const rounds = Number(process.argv[3] ?? 3)
const step = (text: string) => console.error(`… ${text}`)

installPeers()

const spread = (values: readonly number[]) =>
  `${median(values).toFixed(1)} (${Math.min(...values).toFixed(1)}-${Math.max(...values).toFixed(1)})`

function rowOf(name: string, count: number, all: readonly Held[]): string {
  const middle = (what: keyof Held) => median(all.map(held => held[what]))
  const seconds = (what: 'pieceMs' | 'stoppedMs' | 'meanwhileMs') =>
    Number.isNaN(middle(what)) ? '**reset**' : `${(middle(what) / 1000).toFixed(2)} s`
  const [opened, stopped] = [middle('opened'), middle('stopped')]
  const cells = [
    opened === count ? name : `${name}: **${opened} open**`,
    `${(middle('before') / 1024).toFixed(0)} MiB`,
    `${spread(all.map(({ perStream }) => perStream))} KiB`,
    middle('arrived') === 1 ? 'all' : `**${(middle('arrived') * 100).toFixed(1)} %**`,
    `${spread(all.map(({ pieceCpu }) => pieceCpu))} µs`,
    seconds('pieceMs'),
    stopped === opened ? 'all' : `**${stopped === 0 ? 'none' : stopped}**`,
    stopped === 0 ? '–' : seconds('stoppedMs'),
    seconds('meanwhileMs'),
    `${middle('kept').toFixed(1)} KiB`,
  ]
  return `| ${cells.join(' | ')} |`
}

const holders = PEERS.flatMap(peer => (peer.held ? [{ peer, held: peer.held }] : []))
for (const count of counts) {
  const taken = new Map<string, Held[]>(holders.map(({ peer }) => [peer.name, []]))
  for (let round = 0; round < rounds; round++) {
    for (const { peer, held } of round % 2 === 0 ? holders : holders.toReversed()) {
      step(`${count} streams, round ${round + 1} of ${rounds}: ${peer.name}`)
      await hold(peer, held, count)
        .then(result => {
          step(JSON.stringify(result))
          taken.get(peer.name)!.push(result)
        })
        .catch(error => step(`left out: ${error.message}`))
    }
  }
  console.log(
    [
      '',
      `| ${count} open streams | resident before | one of them | a piece to all arrives | CPU of one | the last after | all leave: agents stopped | the last after | a run meanwhile | not given back |`,
      `|${'---|'.repeat(10)}`,
      ...[...taken].flatMap(([name, all]) => (all.length > 0 ? [rowOf(name, count, all)] : [])),
    ].join('\n'),
  )
}

const told: string[] = []
const untold: string[] = []
for (const { peer } of holders) {
  step(`a run whose client leaves: ${peer.name}`)
  ;((await hearsRunLeave(peer)) ? told : untold).push(peer.name)
}
console.log(`\nA run's client leaves; stopped: ${told.join(', ')}; not: ${untold.join(', ')}.`)

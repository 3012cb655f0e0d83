/** Patterns that take `RegExp` quadratic or exponential time, on texts that make it so. */
import { execFile } from 'node:child_process'
import process from 'node:process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { root } from '../../runtimes/process.ts'

/** Says how much CPU time, in microseconds, a text of 50 KB takes, and one of 500 KB, in each way. */
const SCRIPT = `
import { Masks, Scanner } from '${root}src/features/guards/scanner.ts'
import { changeJsonText } from '${root}src/features/guards/texts.ts'
const [source, flags, unit, end] = process.argv.slice(1)
const masks = new Masks([{ pattern: new RegExp(source, flags), with: '#' }])
const ways = {
  whole: text => masks.mask(text),
  json: text => changeJsonText(JSON.stringify({ text, more: [text.slice(0, 10)] }), masks.mask),
  stream(text) {
    const scanner = new Scanner(masks, 64)
    for (let at = 0; at < text.length; at += 20) scanner.push(text.slice(at, at + 20))
    scanner.push('', true)
  },
}
const spent = (way, length) => {
  const text = unit.repeat(Math.ceil(length / unit.length)) + end
  const before = process.cpuUsage()
  ways[way](text)
  const { user, system } = process.cpuUsage(before)
  return user + system
}
const least = (way, length, rounds) => Math.min(...Array.from({ length: rounds }, () => spent(way, length)))
const all = Object.keys(ways).map(way => {
  for (let round = 0; round < 5; round++) spent(way, 10_000)
  return { way, small: least(way, 50_000, 4), large: least(way, 500_000, 2) }
})
console.log(JSON.stringify(all))
`

async function spent(...args: readonly string[]): Promise<{ way: string; small: number; large: number }[]> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module-typescript', '--eval', SCRIPT, ...args],
    { timeout: 60_000, killSignal: 'SIGKILL' },
  )
  return JSON.parse(stdout)
}

describe('the time that a pattern takes', () => {
  it.each<[string, RegExp, string, string]>([
    ['the pattern of the documentation', /[\w.]+@[\w.]+\w/, 'a', ''],
    ['the same before an address', /[\w.]+@[\w.]+\w/, 'a', ' @'],
    ['repeats of repeats', /(a+)+b/, 'a', ''],
    ['choices that are the same', /(a|a)*b/, 'a', '!'],
    ['repeats side by side', /\w*\w*\w*@/, 'a', ' @'],
    ['what may go on to the end', /a(?:.*b)?/, 'a', ''],
    ['what ends late', /<[^>]*>/, '<', ''],
    ['what begins everywhere', /\s+$/, ' ', 'x'],
    ['matches side by side', /a/, 'a', ''],
  ])('grows with the text and no faster: %s', async (_, { source, flags }, unit, end) => {
    for (const { way, small, large } of await spent(source, flags, unit, end)) {
      // Ten times as much, and what a busy machine adds. A quadratic time is a hundred times as much.
      expect(large, way).toBeLessThan(Math.max(small, 2000) * 40)
    }
  })
})

/**
 * Runs the checks on one server with one line of the SDK, and prints what they found as JSON:
 *   node run.ts http://127.0.0.1:2024 sdk-1.15 [beginnings of the names of checks]
 */
import process from 'node:process'
import { busyChecks } from './busy.ts'
import { otherChecks } from './others.ts'
import { runChecks } from './runs.ts'
import { shapeChecks } from './shapes.ts'
import { stateChecks } from './states.ts'
import { threadChecks } from './threads.ts'
import { hookChecks } from './use-stream.ts'
import { waitChecks } from './waits.ts'
import { type Check, type Found, isWanted, type Line, pause, wayOf } from './way.ts'

/** Checks that run at once, and the milliseconds that one may take. */
const AT_ONCE = 4
const LIMIT_MS = 60_000

const [url = '', line = 'sdk-1.15', ...words] = process.argv.slice(2)
const sdk = await import(line)
const server = { url, line: line as Line }

/** The message of an error, without the body of an answer. */
const briefly = (error: unknown) => {
  const message = error instanceof Error ? error.message : String(error)
  return process.env.SHORT ? message : message.replace(/^(HTTP \d+).*/s, '$1')
}

async function runCheck([check, run]: Check): Promise<Found> {
  const way = wayOf(server, sdk)
  const limit = pause(LIMIT_MS).then(() => {
    throw new Error('takes too long')
  })
  limit.catch(() => {})
  const begun = Date.now()
  await Promise.race([run(way), limit]).catch(error => way.fact('no error', briefly(error), null))
  if (process.env.TIMES) console.error(check, Date.now() - begun)
  return { check, facts: way.facts }
}

const CHECKS = [
  ...[threadChecks, runChecks, busyChecks, waitChecks, stateChecks],
  ...[otherChecks, hookChecks, shapeChecks],
].flat()

const chosen = CHECKS.filter(
  ([name, , how]) =>
    (how?.lines?.includes(server.line) ?? true) &&
    (words.length === 0 || words.some(word => name.startsWith(word))),
)

const found = new Map<string, Found>()
const waiting = chosen.filter(([, , how]) => !how?.alone)
const work = async () => {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
    found.set(next[0], await runCheck(next))
}
await Promise.all(Array.from({ length: AT_ONCE }, work))
for (const check of chosen.filter(([, , how]) => how?.alone)) found.set(check[0], await runCheck(check))

const report = chosen.flatMap(([name]) => found.get(name) ?? [])
if (process.env.SHORT) {
  for (const { check, facts } of report)
    for (const fact of facts.filter(each => !isWanted(each)))
      console.log(
        `${check} | ${fact.name}\n  got  ${JSON.stringify(fact.got)}\n  want ${JSON.stringify(fact.want)}`,
      )
} else console.log(JSON.stringify(report))
process.exit()

/**
 * Breaks lines of `src`, one at a time, and counts how many the tests of their room find:
 *   node test/broken-lines.ts [lines] [room …]
 * Ten lines in each of five rooms are the default. The same text of a line is chosen again, whatever file it moves to. It changes
 * files of the checkout while it runs, so give it a worktree of its own.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'

const [lines = '10', ...given] = process.argv.slice(2)
const rooms = given.length > 0 ? given : ['runs', 'http', 'stores', 'approvals', 'a2a']

/** How a line is broken: the first that changes it. */
const BREAKS: readonly (readonly [RegExp, string])[] = [
  [/ === /, ' !== '],
  [/ !== /, ' === '],
  [/ && /, ' || '],
  [/ >= /, ' < '],
  [/ <= /, ' > '],
  [/ > (?=[\w(])/, ' <= '],
  [/ < (?=[\w(])/, ' >= '],
  [/\btrue\b/, 'false'],
  [/\bfalse\b/, 'true'],
  [/ \+ (?=\d|[a-z])/, ' - '],
  // A statement that is a call: it is left out.
  [/^(\s+)(await )?[\w#.]+\([^{}]*\)$/, '$1void 0'],
]

interface Line {
  readonly path: string
  readonly number: number
  readonly from: string
  readonly to: string
}

/** What is no code that runs: comments, types, texts. */
const NO_CODE = /^\s*(\*|\/|import|export type|type|readonly \w+\??:|`|'|\||\|\|)|=>\s*(boolean|void)\b/

function* linesOf(path: string): Generator<Line> {
  const all = readFileSync(path, 'utf8').split('\n')
  for (const [index, from] of all.entries()) {
    if (NO_CODE.test(from)) continue
    const found = BREAKS.find(([pattern]) => pattern.test(from))
    if (found) yield { path, number: index + 1, from, to: from.replace(...found) }
  }
}

const hashOf = (line: Line): string => createHash('sha256').update(line.from.trim()).digest('hex')

/** The folder of a room in `src`, at its first or its second level. */
function folderOf(room: string): string {
  const top = readdirSync('src', { withFileTypes: true }).filter(entry => entry.isDirectory())
  const places = ['src', ...top.map(({ name }) => `src/${name}`)]
  const place = places.find(each => readdirSync(each).includes(room))
  if (place === undefined) throw new Error(`There is no room ${room}`)
  return `${place}/${room}`
}

function chosenIn(room: string): Line[] {
  const folder = folderOf(room)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name =>
    name.endsWith('.ts'),
  )
  const all = files.flatMap(name => [...linesOf(join(folder, name))])
  return all.toSorted((one, other) => hashOf(one).localeCompare(hashOf(other))).slice(0, Number(lines))
}

function passes(room: string): boolean {
  const args = ['run', '--silent', 'test', '--', room, '--bail=1', '--silent', '--reporter=dot']
  return spawnSync('npm', args, { stdio: 'ignore', timeout: 600_000 }).status === 0
}

let found = 0
let count = 0
for (const room of rooms) {
  if (!passes(room)) throw new Error(`The tests of ${room} fail as they are`)
  for (const line of chosenIn(room)) {
    const text = readFileSync(line.path, 'utf8')
    const broken = text.split('\n').map((each, index) => (index + 1 === line.number ? line.to : each))
    writeFileSync(line.path, broken.join('\n'))
    const isFound = !passes(room)
    writeFileSync(line.path, text)
    count++
    found += Number(isFound)
    console.log(`${isFound ? 'found' : 'NOT FOUND'}: ${line.path}:${line.number}: ${line.to.trim()}`)
  }
}
console.log(`${found} of ${count} broken lines found`)

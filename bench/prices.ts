/**
 * The tables of prices, in the pages that have them: `node bench/prices.ts` writes them anew. What parts weigh and what operations
 * cost is in `prices.json`, where `bundles.ts` and `rows.ts` keep what they measure. What a store holds is in the code.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { BOUNDS, defaultOf } from './bounds.ts'

const root = fileURLToPath(new URL('../', import.meta.url))
const FIGURES = `${root}bench/prices.json`

/** The pages that have tables of prices. */
export const PAGES = ['bench/README.md', 'docs/why/comparison.md', 'docs/run/costs.md'] as const

/** What an operation costs on Workers, in all Durable Objects that it touches. */
export interface Cost {
  readonly objects: number
  readonly calls: number
  /** Rows written: each alarm that is set is one of them. */
  readonly rows: number
  readonly alarmsSet: number
  readonly alarmsRung: number
  readonly rowsRead: number
}

/** Bytes of a bundle. */
export interface Weight {
  readonly gzip: number
  readonly plain: number
}

/** What was measured, by name. */
export interface Figures {
  /** Workers with some parts. */
  readonly bundles: Readonly<Record<string, Weight>>
  /** Entries by themselves. */
  readonly entries: Readonly<Record<string, Weight>>
  /** Files of the console's page. */
  readonly files: Readonly<Record<string, Weight>>
  readonly operations: Readonly<Record<string, Cost>>
}

/** USD for a million, by Cloudflare's pages. */
const USD = { written: 1, read: 0.001, request: 0.15, worker: 0.3, second: 12.5 }

/** USD for a million of an operation. */
export const usdOf = ({ rows, rowsRead, calls, alarmsRung }: Cost): number =>
  rows * USD.written + rowsRead * USD.read + (calls + alarmsRung) * USD.request

/** Reads what was measured. */
export const figures = (): Figures => JSON.parse(readFileSync(FIGURES, 'utf8'))

/** Keeps what was measured, and writes the tables anew. */
export function keep(measured: Partial<Figures>): void {
  writeFileSync(FIGURES, `${JSON.stringify({ ...figures(), ...measured }, null, 2)}\n`)
  renew()
}

function table(heads: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const lines = [heads, ...rows].map(cells => `| ${cells.join(' | ')} |`)
  return lines.toSpliced(1, 0, `|${'---|'.repeat(heads.length)}`).join('\n')
}

const kib = (bytes: number): string => (bytes / 1024).toFixed(1)

const CORE = 'core'
const IN_MEMORY = 'core, `memoryState()`'
const IN_OBJECTS = 'core, Durable Objects'

/** The Worker to which another one adds its parts. */
function baseOf(name: string): string | undefined {
  if (name === CORE) return undefined
  if (name === IN_MEMORY || name === IN_OBJECTS) return CORE
  if (name.includes('Durable Objects')) return IN_OBJECTS
  return name.includes('`memoryState()`') ? IN_MEMORY : CORE
}

function bundles({ bundles: all }: Figures): string {
  const rows = Object.entries(all).map(([name, { gzip, plain }]) => {
    const base = all[baseOf(name) ?? '']
    return [name, kib(gzip), base === undefined ? '' : kib(gzip - base.gzip), kib(plain)]
  })
  return table(['Worker', 'KiB gzip', 'its parts add', 'KiB before gzip'], rows)
}

const weights = (what: string, all: Figures['entries']): string =>
  table(
    [what, 'KiB gzip', 'KiB before gzip'],
    Object.entries(all).map(([name, { gzip, plain }]) => [name, kib(gzip), kib(plain)]),
  )

const operations = ({ operations: all }: Figures): string =>
  table(
    ['operation', 'rows written', 'calls', 'USD for a million'],
    Object.entries(all).map(([name, cost]) => [name, cost.rows, cost.calls, usdOf(cost).toFixed(2)]),
  )

const costs = ({ operations: all }: Figures): string =>
  table(
    [
      'operation',
      'objects',
      'calls',
      'rows',
      'alarms set',
      'alarms that ring',
      'rows read',
      'USD for a million',
    ],
    Object.entries(all).map(([name, cost]) => {
      const { objects, calls, rows, alarmsSet, alarmsRung, rowsRead } = cost
      return [name, objects, calls, rows, alarmsSet, alarmsRung, rowsRead, usdOf(cost).toFixed(2)]
    }),
  )

const units = (): string =>
  table(
    ['unit', 'USD for a million', 'included each month'],
    [
      ['rows written', USD.written.toFixed(2), '50 million'],
      ['rows read', USD.read, '25 billion'],
      ['requests to objects', USD.request, '1 million'],
      ['requests to the Worker', USD.worker.toFixed(2), ''],
      ['GB-s of duration', USD.second.toFixed(2), ''],
    ],
  )

const MIB = 1024 * 1024
/** A bound as pages write it. */
export const amount = (number: number, unit = ''): string => {
  if (unit === 'bytes' && number % (1024 * MIB) === 0) return `${number / 1024 / MIB} GiB`
  if (unit === 'bytes' && number % MIB === 0) return `${number / MIB} MiB`
  return `${number.toLocaleString('en')}${unit && ` ${unit}`}`
}

const bounds = (): string =>
  table(
    ['of', 'a store holds at most', 'option', 'beyond it'],
    BOUNDS.map(bound => [
      bound.of,
      amount(defaultOf(bound), bound.unit),
      bound.option === undefined ? 'none' : `\`${bound.option}\``,
      bound.beyond,
    ]),
  )

const TABLES: Readonly<Record<string, (measured: Figures) => string>> = {
  bundles,
  entries: ({ entries }) => weights('entry', entries),
  files: ({ files }) => weights('file', files),
  operations,
  costs,
  units,
  bounds,
}

/** A figure within a sentence or a row. */
const FIGURE: Readonly<Record<string, (measured: Figures, name: string) => string | undefined>> = {
  kib({ bundles: workers, entries }, name) {
    const weight = workers[name] ?? entries[name]
    return weight && kib(weight.gzip)
  },
  usd({ operations: all }, name) {
    const cost = all[name]
    return cost && usdOf(cost).toFixed(2)
  },
}

/** A page with its tables and figures as they are now. Throws if it asks for one that does not exist. */
export function renewed(page: string, measured: Figures = figures()): string {
  const found = (text: string | undefined, name: string) => {
    if (text === undefined) throw new Error(`There is no \`${name}\` to write`)
    return text
  }
  return page
    .replace(
      /(<!-- table: (\w+) -->\n)[\s\S]*?(<!-- end of table -->)/g,
      (_, begin: string, name: string, end: string) =>
        `${begin}\n${found(TABLES[name]?.(measured), name)}\n\n${end}`,
    )
    .replace(
      /(<!-- (kib|usd): (.+?) -->).*?(<!-- end -->)/g,
      (_, begin: string, kind: string, name: string, end: string) =>
        begin + found(FIGURE[kind]?.(measured, name), name) + end,
    )
}

/** Writes the tables of all pages anew. */
export function renew(): void {
  for (const path of PAGES) {
    const page = readFileSync(root + path, 'utf8')
    const now = renewed(page)
    if (now !== page) writeFileSync(root + path, now)
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) renew()

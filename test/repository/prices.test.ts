/** The page of prices says what was measured, and what the code has. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { optionsOf, rowsOf } from '../../.ci/docs.ts'
import { BOUNDS, type Bound, defaultOf } from '../../bench/bounds.ts'
import { amount, type Figures, figures, PAGES, renewed, usdOf } from '../../bench/prices.ts'
import { root } from '../runtimes/process.ts'
import { BUNDLES } from './bundles.ts'

const read = (path: string) => readFile(join(root, path), 'utf8')

describe('the tables of prices', () => {
  it.each(PAGES)('of %s are what `node bench/prices.ts` writes', async path => {
    const page = await read(path)
    expect(page).toMatch(/<!-- (table|kib): /)
    expect(page).toBe(renewed(page))
  })

  it('have each Worker of the price list, and no other', () => {
    expect(Object.keys(figures().bundles)).toEqual(BUNDLES.map(({ name }) => name))
  })

  it('have bounds whose defaults are those of the docstrings', async () => {
    const files = await readdir(join(root, 'src'), { recursive: true })
    const sources = await Promise.all(
      files.filter(file => file.endsWith('.ts')).map(file => read(join('src', file))),
    )
    const told = new Map(
      optionsOf(sources, {
        HandlerOptions: '',
        QueueOptions: 'queue.',
        FilesOptions: 'files.',
        CallerKeysOptions: 'callerKeys.',
        WebhooksOptions: 'webhooks.',
        ToolServerManagerOptions: 'ToolServerManager.',
        MetricsExporterOptions: 'metricsExporter.',
      }).map(option => [option.name, option.default]),
    )
    const known = BOUNDS.filter(({ option = '' }) => told.get(option) !== undefined)
    expect(known.length).toBeGreaterThan(15)
    for (const bound of known)
      expect(defaultOf(bound).toLocaleString('en'), bound.option).toBe(told.get(bound.option ?? ''))
  })
})

/** Names of options that several parts have. */
const SHARED = ['maxBytes', 'maxLength', 'maxTools']

/** Whether a text with code names the option of a bound. */
function names(text: string, { option = '' }: Bound): boolean {
  const last = option.split('.').at(-1) ?? ''
  const codes = [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
  return codes.some(
    code => code === option || (!SHARED.includes(last) && new RegExp(`(?<![.\\w])${last}\\b`).test(code)),
  )
}

describe('the tables of other pages', () => {
  it('have the same bounds where they name an option', async () => {
    const pages = (await readdir(join(root, 'docs'), { recursive: true })).filter(
      name => name.endsWith('.md') && !/decisions\/|^\.site/.test(name),
    )
    const texts = await Promise.all(pages.map(name => read(join('docs', name))))
    // Rows with a number, but for the status of an error.
    const rows = texts.flatMap(text => rowsOf(text).map(cells => `| ${cells.join(' | ')} |`))
    const telling = rows.filter(row => /\d/.test(row.replace(/\| \d{3} \|/, '')))
    const pairs = BOUNDS.filter(({ option }) => option !== undefined).flatMap(bound =>
      telling.filter(row => names(row, bound)).map(row => [bound, row] as const),
    )
    expect(pairs.length).toBeGreaterThan(30)
    for (const [bound, row] of pairs) {
      const number = defaultOf(bound)
      const told = [amount(number, bound.unit), amount(number)]
      expect(
        told.some(text => row.includes(text)),
        `${bound.option}: ${told.join(', ')}\n${row}`,
      ).toBe(true)
    }
  })
})

describe('the comparison', () => {
  it('has the medians that the benchmarks have of each server', async () => {
    const numbers = (cells: readonly string[]) =>
      cells.slice(1).map(cell => Number(/^[\d.,]+/.exec(cell)?.[0].replaceAll(',', '') ?? Number.NaN))
    const measured = rowsOf(await read('bench/README.md')).map(numbers)
    const compared = rowsOf(await read('docs/why/comparison.md')).filter(([, , , piece]) =>
      /^\d+$/.test(piece ?? ''),
    )
    expect(compared.length).toBeGreaterThan(5)
    for (const cells of compared)
      expect(
        measured.some(row => numbers(cells).every(number => row.includes(number))),
        cells.join(' | '),
      ).toBe(true)
  })
})

describe('renewed', () => {
  const cost = { objects: 2, calls: 4, rows: 13, alarmsSet: 2, alarmsRung: 1, rowsRead: 20 }
  const measured: Figures = {
    bundles: { core: { gzip: 10_240, plain: 20_480 }, '`cors()`': { gzip: 11_264, plain: 22_528 } },
    entries: {},
    files: {},
    operations: { 'a stored run': cost },
  }

  it('counts rows, rows read, calls and alarms that ring', () => {
    expect(usdOf(cost)).toBeCloseTo(13 + 0.02 + 5 * 0.15)
  })

  it('replaces tables and figures, and nothing else', () => {
    const page =
      'Before\n<!-- table: bundles -->\nold\n<!-- end of table -->\n<!-- kib: core -->9<!-- end --> KiB'
    expect(renewed(page, measured)).toBe(
      [
        'Before\n<!-- table: bundles -->\n',
        '| Worker | KiB gzip | its parts add | KiB before gzip |',
        '|---|---|---|---|',
        '| core | 10.0 |  | 20.0 |',
        '| `cors()` | 11.0 | 1.0 | 22.0 |',
        '\n<!-- end of table -->\n<!-- kib: core -->10.0<!-- end --> KiB',
      ].join('\n'),
    )
  })

  it.each(['<!-- table: none -->\n<!-- end of table -->', '<!-- usd: none -->1<!-- end -->'])(
    'refuses %s',
    page => {
      expect(() => renewed(page, measured)).toThrow('There is no `none`')
    },
  )
})

/** The glossary of docs/why/architecture.md: one word, one meaning. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))

interface Word {
  readonly word: string
  /** The type that it names in the code. */
  readonly type: string | undefined
}

/** Most words of the glossary: nobody learns more. */
const MAX_WORDS = 40

function wordsIn(page: string): Word[] {
  const section = page.slice(page.indexOf('\n## Words'), page.indexOf('\n## Where is'))
  const rows = section.matchAll(/^\| ([a-z ]+) \| [^|]+ \| ?(?:`(\w+)`)? ?\|$/gm)
  return [...rows].map(([, word = '', type]) => ({ word, type })).filter(({ word }) => word !== 'word')
}

/** The files that define each type, by its name. */
function definitionsIn(sources: ReadonlyMap<string, string>): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const [path, text] of sources) {
    for (const [, name = ''] of text.matchAll(/^(?:export )?(?:abstract )?(?:interface|type|class) (\w+)/gm))
      found.set(name, [...(found.get(name) ?? []), path])
  }
  return found
}

/** Words of the glossary that no type has, or two types. */
function wrongWords(words: readonly Word[], definitions: ReadonlyMap<string, readonly string[]>): string[] {
  return words.flatMap(({ word, type }) => {
    const asType = word.replace(/(?:^| )(\w)/g, (_, letter: string) => letter.toUpperCase())
    const twice = [...new Set([asType, ...(type === undefined ? [] : [type])])].filter(
      name => (definitions.get(name)?.length ?? 0) > 1,
    )
    const isMissing = type !== undefined && !definitions.has(type)
    return [
      ...twice.map(name => `${word}: ${name} is in ${definitions.get(name)?.join(' and ')}`),
      ...(isMissing ? [`${word}: there is no ${type}`] : []),
    ]
  })
}

describe('the glossary', () => {
  it('has words that one type has, in the whole of src', async () => {
    const words = wordsIn(await readFile(join(root, 'docs/why/architecture.md'), 'utf8'))
    expect(words.length).toBeGreaterThan(30)
    expect(words.length).toBeLessThanOrEqual(MAX_WORDS)
    const paths = (await readdir(join(root, 'src'), { recursive: true })).filter(
      path => path.endsWith('.ts') && !path.endsWith('built.ts'),
    )
    const read = async (path: string) => [path, await readFile(join(root, 'src', path), 'utf8')] as const
    const sources = new Map(await Promise.all(paths.map(read)))
    expect(wrongWords(words, definitionsIn(sources))).toEqual([])
  })
})

describe('wrongWords', () => {
  const page = '\n## Words\n\n| run | one call | `Run` |\n| run host | starts it | `RunHost` |\n\n## Where is'
  const words = wordsIn(page)

  it('finds a word that two types have', () => {
    const two = definitionsIn(
      new Map([
        ['a.ts', 'export class Run {}\nexport interface RunHost {}'],
        ['b.ts', 'type Run = string'],
      ]),
    )
    expect(wrongWords(words, two)).toEqual(['run: Run is in a.ts and b.ts'])
  })

  it('finds a word whose type is gone', () => {
    expect(wrongWords(words, definitionsIn(new Map([['a.ts', 'export class Run {}']])))).toEqual([
      'run host: there is no RunHost',
    ])
  })
})

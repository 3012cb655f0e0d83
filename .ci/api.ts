// The public interface of the package, as files that a review sees change: test/api/entries.txt has the names of each entry, and
// test/api/types.txt has the declarations of these and of all that they refer to, without comments.
//   node .ci/api.ts write
//   node .ci/api.ts check
// `check` fails if the sources have another interface than the files.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

/** A declaration, without comments and `export`. */
interface Declaration {
  readonly name: string
  text: string
}

/** What a name of a module means: a declaration there, or a name elsewhere. `*` is all of a module. */
interface Target {
  /** A path below `src`, or a package. */
  readonly from: string
  readonly name: string
}

/** The declarations of a module, what it imports, and what it exports. */
export interface ModuleInterface {
  readonly declared: ReadonlyMap<string, Declaration>
  readonly imported: ReadonlyMap<string, Target>
  /** Exported names; those of `export *` are in `all`. */
  readonly exported: ReadonlyMap<string, Target>
  readonly all: readonly string[]
}

const STRING = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/y

/** The statements of a declaration file, without comments. A statement ends with `;` or, if it has a body, with `}`. */
export function statementsOf(text: string): string[] {
  const statements: string[] = []
  let statement = ''
  let depth = 0
  for (let at = 0; at < text.length; ) {
    const skipped = commentAt(text, at)
    if (skipped > 0) {
      at += skipped
      continue
    }
    STRING.lastIndex = at
    const piece = STRING.exec(text)?.[0] ?? text[at]!
    at += piece.length
    statement += piece
    if ('{(['.includes(piece)) depth++
    else if ('})]'.includes(piece)) depth--
    const isEnd =
      piece === ';' ||
      (piece === '}' &&
        /^\s*(export )?(declare )?(abstract )?(class|interface|enum|namespace|module|global)\b/.test(
          statement,
        ))
    if (depth > 0 || !isEnd) continue
    if (statement.trim() !== ';') statements.push(tidy(statement))
    statement = ''
  }
  return statements
}

/** The length of the comment at a place. */
function commentAt(text: string, at: number): number {
  if (text.startsWith('/*', at)) return text.indexOf('*/', at) + 2 - at
  if (!text.startsWith('//', at)) return 0
  const end = text.indexOf('\n', at)
  return (end === -1 ? text.length : end) - at
}

/** One statement without empty lines and white space at ends. */
function tidy(text: string): string {
  return text
    .split('\n')
    .map(line => line.trimEnd())
    .filter(line => line !== '')
    .join('\n')
    .trim()
}

const DECLARED =
  /^(?:export )?(?:default )?(?:declare )?(?:abstract )?(?:class|interface|enum|namespace|type|const|let|var|function) ([\w$]+)/

/** Reads a module. `resolve` makes paths below `src` of its specifiers. */
export function readModule(text: string, resolve: (specifier: string) => string): ModuleInterface {
  const module = {
    declared: new Map<string, Declaration>(),
    imported: new Map<string, Target>(),
    exported: new Map<string, Target>(),
    all: [] as string[],
  }
  for (const statement of statementsOf(text)) {
    const name = DECLARED.exec(statement)?.[1]
    const specifier = /\bfrom '([^']+)';$/.exec(statement)?.[1]
    const from = specifier === undefined ? '' : resolve(specifier)
    if (name !== undefined) declare(module, name, statement)
    else if (statement.startsWith('export * from')) module.all.push(from)
    else if (statement.startsWith('import ')) readImport(module.imported, statement, from)
    else for (const [own, other] of namesIn(statement)) module.exported.set(other, { from, name: own })
  }
  return module
}

function declare(
  { declared, exported }: { declared: Map<string, Declaration>; exported: Map<string, Target> },
  name: string,
  statement: string,
): void {
  const code = statement.replace(/^export /, '')
  const known = declared.get(name)
  // Overloads of a function are several statements.
  if (known === undefined) declared.set(name, { name, text: code })
  else known.text += `\n${code}`
  if (statement.startsWith('export ')) exported.set(name, { from: '', name })
}

function readImport(imported: Map<string, Target>, statement: string, from: string): void {
  const whole = /^import (?:type )?\* as ([\w$]+)/.exec(statement)?.[1]
  if (whole !== undefined) imported.set(whole, { from, name: '*' })
  const first = /^import (?:type )?([\w$]+)(?:,| from)/.exec(statement)?.[1]
  if (first !== undefined) imported.set(first, { from, name: 'default' })
  for (const [own, other] of namesIn(statement)) imported.set(other, { from, name: own })
}

/** The names in `{ type a as b, c }` of a statement, each with the one that it has here. */
function namesIn(statement: string): (readonly [string, string])[] {
  const list = /\{([^}]*)\}/.exec(statement)?.[1] ?? ''
  return list
    .split(',')
    .map(each => each.trim().replace(/^type /, ''))
    .filter(each => each !== '')
    .map(each => {
      const [own = '', other = own] = each.split(' as ')
      return [own, other] as const
    })
}

/** Reads the interfaces of entries, given the declaration files of all modules by their path below `src`, without an ending. */
export class Interfaces {
  readonly #texts: ReadonlyMap<string, string>
  readonly #modules = new Map<string, ModuleInterface>()
  /** The declarations that entries show, by `module#name`. */
  readonly shown = new Map<string, string>()

  constructor(texts: ReadonlyMap<string, string>) {
    this.#texts = texts
  }

  /** The exported names of a module, each with the key of its declaration. Notes the declarations. */
  namesOf(path: string): (readonly [name: string, key: string])[] {
    return [...this.#exportsOf(path)]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, target]) => [name, this.#show(target) ?? `${target.from}#${target.name}`] as const)
  }

  #exportsOf(path: string): Map<string, Target> {
    const { exported, all } = this.#module(path)
    const targets = new Map(all.flatMap(from => [...this.#exportsOf(from)]))
    for (const [name, target] of exported) targets.set(name, this.#find(path, target))
    return targets
  }

  /** Where the declaration of a name is. */
  #find(path: string, { from, name }: Target): Target {
    if (from !== '')
      return this.#texts.has(from) ? (this.#exportsOf(from).get(name) ?? { from, name }) : { from, name }
    const { declared, imported } = this.#module(path)
    const target = imported.get(name)
    if (declared.has(name) || target === undefined) return { from: path, name }
    return this.#find(path, target)
  }

  /** Notes a declaration, and those that it refers to. Returns its key; undefined for one of a package. */
  #show(target: Target): string | undefined {
    const { from, name } = target
    if (!this.#texts.has(from)) return undefined
    const module = this.#module(from)
    const key = `${from}#${name}`
    const declaration = module.declared.get(name)
    if (declaration === undefined || this.shown.has(key)) return key
    this.shown.set(key, '')
    const outside: string[] = []
    for (const word of new Set(declaration.text.match(/[\w$]+/g))) {
      if (word === name || (!module.declared.has(word) && !module.imported.has(word))) continue
      const other = this.#find(from, { from: '', name: word })
      if (this.#show(other) === undefined) outside.push(`// ${word} is ${other.name} of ${other.from}`)
    }
    for (const [, specifier = '', word = ''] of declaration.text.matchAll(/import\("([^"]+)"\)\.([\w$]+)/g)) {
      this.#show(this.#find(from, { from: below(from, specifier), name: word }))
    }
    this.shown.set(key, [...outside.toSorted(), declaration.text].join('\n'))
    return key
  }

  #module(path: string): ModuleInterface {
    const known = this.#modules.get(path)
    if (known !== undefined) return known
    const module = readModule(this.#texts.get(path) ?? '', specifier => below(path, specifier))
    this.#modules.set(path, module)
    return module
  }
}

/** The path below `src` of a specifier, without an ending; a package stays as it is. */
function below(path: string, specifier: string): string {
  return specifier.startsWith('.')
    ? posix.join(dirname(path), specifier).replace(/\.(d\.)?[jt]s$/, '')
    : specifier
}

const root = fileURLToPath(new URL('../', import.meta.url))

/** The declaration files of the sources, made anew. */
function declarations(): Map<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'servable-api-'))
  try {
    const config = join(folder, 'tsconfig.json')
    const compilerOptions = { typeRoots: [join(root, 'node_modules/@types')] }
    const settings = {
      extends: join(root, 'src/runtimes/tsconfig.json'),
      compilerOptions,
      include: [join(root, 'src')],
    }
    writeFileSync(config, JSON.stringify(settings))
    const how = ['--emitDeclarationOnly', '--noCheck', '--outDir', folder]
    execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', config, ...how], { stdio: 'inherit' })
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(file =>
      file.endsWith('.d.ts'),
    )
    const read = (file: string) => readFileSync(join(folder, file), 'utf8')
    return new Map(files.map(file => [file.replaceAll('\\', '/').replace(/\.d\.ts$/, ''), read(file)]))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** The texts of the report, by file. */
function report(): Record<string, string> {
  const { exports: entries } = JSON.parse(readFileSync(join(root, 'deno.json'), 'utf8')) as {
    readonly exports: Readonly<Record<string, string>>
  }
  return reportOf(
    Object.entries(entries).map(([entry, file]) => [
      `servable${entry.slice(1)}`,
      file.replace(/^\.\/src\//, '').replace(/\.ts$/, ''),
    ]),
    declarations(),
  )
}

/** The report of entries, each with its module, given the declaration files of all modules. */
export function reportOf(
  entries: readonly (readonly [entry: string, path: string])[],
  texts: ReadonlyMap<string, string>,
): Record<'entries.txt' | 'types.txt', string> {
  const interfaces = new Interfaces(texts)
  const named = entries.map(([entry, path]) => [entry, interfaces.namesOf(path)] as const)
  const keys = [...interfaces.shown.keys()]
  const counts = new Map<string, number>()
  for (const key of keys) counts.set(nameIn(key), (counts.get(nameIn(key)) ?? 0) + 1)
  // A file that moves changes nothing for users, so it is named only where it must be.
  const labelOf = (key: string) => {
    const isOnly = !interfaces.shown.has(key) || counts.get(nameIn(key)) === 1
    return isOnly ? nameIn(key) : `${nameIn(key)} (${key.slice(0, key.indexOf('#'))})`
  }
  const parts = named.map(([entry, names]) => {
    const lines = names.map(([name, key]) =>
      labelOf(key) === name ? `  ${name}` : `  ${name}: ${labelOf(key)}`,
    )
    return [entry, ...lines].join('\n')
  })
  const types = keys.map(key => `# ${labelOf(key)}\n${interfaces.shown.get(key)}`).toSorted()
  return { 'entries.txt': `${parts.join('\n\n')}\n`, 'types.txt': `${types.join('\n\n')}\n` }
}

function nameIn(key: string): string {
  return key.slice(key.indexOf('#') + 1)
}

/** The first line in which two texts differ. */
function difference(before: string, after: string): string {
  const [old, now] = [before.split('\n'), after.split('\n')]
  const at = now.findIndex((line, place) => line !== old[place])
  return `line ${at + 1}\n- ${old[at] ?? ''}\n+ ${now[at] ?? ''}`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = join(root, 'test/api')
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(report())) {
    const path = join(folder, name)
    if (process.argv[2] === 'write') writeFileSync(path, text)
    else {
      let known = ''
      try {
        known = readFileSync(path, 'utf8')
      } catch {
        // It is not there yet.
      }
      if (known === text) continue
      console.error(`test/api/${name} has another interface than the sources: ${difference(known, text)}`)
      console.error('If that is meant, write it anew: node .ci/api.ts write')
      process.exitCode = 1
    }
  }
}

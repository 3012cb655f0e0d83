// Checks README.md, bench/README.md and docs/**/*.md, in less than a second:
//   node .ci/docs.ts
// It fails on a dead relative link or anchor, a page that docs/README.md does not name below the heading of its folder, a page that does not
// say what its commands ask, an option of `createHandler` that docs/look-up/options.md does not name with its default and with who sets it, a
// first table there that is too long, an error code that docs/look-up/errors.md does not name with its status, an event or a field that
// docs/look-up/events.md does not name, a folder of `src` without a row in docs/why/architecture.md, and a file that is named there and is not
// there.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

/** Texts by their paths, from the root of the repository. */
export type Texts = ReadonlyMap<string, string>

const INDEX = 'docs/README.md'
const OPTIONS_PAGE = 'docs/look-up/options.md'
const ERRORS_PAGE = 'docs/look-up/errors.md'
const EVENTS_PAGE = 'docs/look-up/events.md'
const ARCHITECTURE_PAGE = 'docs/why/architecture.md'

/** A page without its code, since code has no links and headings. */
function withoutCode(page: string): string {
  return page.replace(/^( *)(`{3,})[\s\S]*?^\1\2`*$/gm, '').replace(/<!--[\s\S]*?-->/g, '')
}

/** Code, which is the first group, or the target of a link, a reference or a tag. */
const TARGET =
  /(^( *)(`{3,})[\s\S]*?^\2\3`*$|<!--[\s\S]*?-->|`[^`\n]*`)|(?<=\]\(<?)[^<>)\s]+(?=>?(?:\s+"[^"]*")?\))|(?<=^\[[^\]^]+\]:\s*)\S+|(?<=<(?:a|img|source)\b[^>]*?\b(?:href|src|srcset)=")[^"\s]+(?=")/gm

/** The page with other targets where it links to or shows something, but for other sites. */
export function withTargets(page: string, change: (target: string) => string): string {
  return page.replace(TARGET, (target: string, code?: string) =>
    code !== undefined || /^([a-z][\w+.-]*:|\/\/)/i.test(target) ? target : change(target),
  )
}

/** What a page links to or shows, but for other sites. */
export function linksOf(page: string): string[] {
  const targets: string[] = []
  withTargets(page, target => {
    targets.push(target)
    return target
  })
  return targets
}

/** The anchor of a heading's text, as GitHub makes it. */
export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-')
}

/** The anchors of a page's headings. */
export function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, heading = ''] of withoutCode(page).matchAll(/^#{1,6} +(.+?) *#*$/gm)) {
    const slug = slugOf(heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, ''))
    let anchor = slug
    for (let count = 1; anchors.has(anchor); count++) anchor = `${slug}-${count}`
    anchors.add(anchor)
  }
  for (const [, id = ''] of page.matchAll(/<a (?:id|name)="([^"]+)"/g)) anchors.add(id)
  return anchors
}

/** Dead links. `exists` says whether a file or folder exists. */
export function deadLinks(pages: Texts, exists: (path: string) => boolean): string[] {
  const dead: string[] = []
  for (const [path, page] of pages) {
    for (const target of new Set(linksOf(page))) {
      const [file = '', anchor] = target.split('#')
      const to = file === '' ? path : normalize(join(dirname(path), decodeURI(file)))
      const found = pages.get(to)
      if (found === undefined && !exists(to)) dead.push(`${path}: nothing is at \`${target}\``)
      else if (anchor !== undefined && found !== undefined && !anchorsOf(found).has(decodeURI(anchor)))
        dead.push(`${path}: no heading for \`${target}\``)
    }
  }
  return dead
}

/**
 * Pages that the index does not link to below the heading of their folder: `docs/look-up/errors.md` belongs below `## Look up`. Empty if
 * there is no index.
 */
export function unindexed(pages: Texts): string[] {
  const [, ...parts] = pages.get(INDEX)?.split(/^## /m) ?? []
  const named = new Set(
    parts.flatMap(part => {
      const folder = slugOf(part.slice(0, part.indexOf('\n')))
      return linksOf(part)
        .map(target => normalize(join('docs', target.split('#')[0] ?? '')))
        .filter(path => path.startsWith(`docs/${folder}/`))
    }),
  )
  return [...pages.keys()]
    .filter(path => parts.length > 0 && /^docs\/[^/]+\/[^/]+\.md$/.test(path) && !named.has(path))
    .map(path => `${INDEX}: does not name ${path} in the part of its folder`)
}

/** The port of the example agents, which only a clone of the repository has. */
const PORT_OF_EXAMPLES = '8787'

/** Pages whose code asks the port of the example agents, and that tell neither of them nor what to serve there. */
export function unservedCode(pages: Texts): string[] {
  const asks = (page: string) => page.includes(PORT_OF_EXAMPLES)
  return [...pages]
    .filter(([path, page]) => path.startsWith('docs/') && asks(page) && !asks(withoutCode(page)))
    .filter(
      ([, page]) => !page.includes('#try-the-example-agents') && !page.includes(`port: ${PORT_OF_EXAMPLES}`),
    )
    .map(([path]) => `${path}: does not say what serves port ${PORT_OF_EXAMPLES}`)
}

/** The rows of a page's tables, as cells. */
export function rowsOf(page: string): string[][] {
  return withoutCode(page)
    .split('\n')
    .filter(line => line.startsWith('|') && !/^\|[\s|:-]+$/.test(line))
    .map(line =>
      line
        .replace(/^\||\|\s*$/g, '')
        .split(/(?<!\\)\|/)
        .map(cell => cell.trim()),
    )
}

/** The names in a cell that are marked as code. */
function codesIn(cell = ''): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
}

/** Every error code and its HTTP status, from `src/base/errors.ts` and `src/web/problem.ts`. */
export function statusesOf(errors: string, problem: string): Map<string, string> {
  const statuses = new Map(
    [...problem.matchAll(/^ {2}(\w+): \[(\d{3}), /gm)].map(([, kind = '', status = '']) => [kind, status]),
  )
  const kinds = [...errors.matchAll(/^ {2}(\w+): \[([^\]]*)\]/gm)]
  return new Map(
    kinds.flatMap(([, kind = '', codes = '']) =>
      [...codes.matchAll(/'(\w+)'/g)].map(([, code = '']) => [code, statuses.get(kind) ?? 'none'] as const),
    ),
  )
}

/** The errors of the page of error codes. Its rows have `code`, status, meaning and remedy. */
export function wrongCodes(page: string, statuses: ReadonlyMap<string, string>): string[] {
  const rows = rowsOf(page).filter(([, status = '']) => /^\d{3}$/.test(status))
  const named = new Map(
    rows.flatMap(([cell, status = '']) => codesIn(cell).map(code => [code, status] as const)),
  )
  const wrong = [...statuses].filter(([code, status]) => named.get(code) !== status)
  const unknown = [...named.keys()].filter(code => !statuses.has(code))
  return [
    ...wrong.map(([code, status]) => `${ERRORS_PAGE}: needs a row of \`${code}\` with the status ${status}`),
    ...unknown.map(code => `${ERRORS_PAGE}: there is no code \`${code}\``),
  ]
}

/** The fields of every event, from `src/agents/event.ts`. */
export function eventsOf(source: string): Map<string, string[]> {
  const [, members = ''] = /^const MEMBERS:[^\n]*\n([\s\S]*?)^\}/m.exec(source) ?? []
  const events = members.matchAll(/^ {2}(\w+): (\{\}|\{ .*\}|\{\n[\s\S]*?^ {2}\}),$/gm)
  return new Map(
    [...events].map(([, type = '', fields = '']) => [
      type,
      [...fields.matchAll(/(\w+): 1/g)].map(([, field = '']) => field),
    ]),
  )
}

/** The errors of the page of events. The rows of its first table have `type`, the fields and their meaning. */
export function wrongEvents(page: string, events: ReadonlyMap<string, readonly string[]>): string[] {
  const rows = rowsOf(page).filter(([, , meaning]) => meaning !== undefined)
  const named = new Map(
    rows.flatMap(([cell, fields]) =>
      codesIn(cell).map(type => [type, codesIn(fields).map(code => code.replace(/:.*/, ''))] as const),
    ),
  )
  named.delete('type')
  const ordered = (fields: readonly string[] = ['none']) => fields.toSorted().join()
  const wrong = [...events].filter(([type, fields]) => ordered(named.get(type)) !== ordered(fields))
  const unknown = [...named.keys()].filter(type => !events.has(type))
  return [
    ...wrong.map(([type, fields]) => `needs a row of \`${type}\` with the fields ${fields.join(', ')}`),
    ...unknown.map(type => `there is no event \`${type}\``),
  ].map(each => `${EVENTS_PAGE}: ${each}`)
}

/** An option: its name with those of the options around it, and the default of its docstring. */
export interface Option {
  readonly name: string
  readonly default: string | undefined
}

/** The types that have options, with the prefix of their names. */
const ROOTS: Readonly<Record<string, string>> = {
  HandlerOptions: '',
  MetricsExporterOptions: 'metricsExporter.',
  FilesOptions: 'files.',
  MemoryStateOptions: 'memoryState.',
  SqliteStateOptions: 'sqliteState.',
  PostgresStateOptions: 'postgresState.',
  DurableStateOptions: 'durableState.',
  RemoteAgentOptions: 'remoteAgent.',
  ApprovalsOptions: 'approvals.',
  BudgetOptions: 'budgets.',
  BudgetsOptions: 'budgets.',
  CallerKeysOptions: 'callerKeys.',
  GuardsOptions: 'guards.',
  McpOptions: 'mcp.',
  McpTasksOptions: 'mcpTasks.',
  OtelOptions: 'otel.',
  QueueOptions: 'queue.',
  SchedulesOptions: 'schedules.',
}

/** Types whose members are options too. */
const NESTED = /\b\w*(?:Options|Limits|Setting|Config|Provider|Providers|Price|Pricing|Retention)\b/g

/** Every option of `createHandler`, of its parts, states and plugins, from the sources. Throws if a root is missing. */
export function optionsOf(
  sources: Iterable<string>,
  roots: Readonly<Record<string, string>> = ROOTS,
): Option[] {
  const types = typesIn(sources)
  // An option that two places have appears once on the page.
  const told = new Set<string>()
  return Object.entries(roots).flatMap(([root, prefix]) => {
    if (types.has(root)) return [...membersOf({ types, told }, root, prefix)]
    throw new Error(`There is no \`${root}\` in the sources: name the new one in .ci/docs.ts`)
  })
}

/** The exported interfaces and aliases, by name. */
function typesIn(sources: Iterable<string>): Map<string, string> {
  const types = new Map<string, string>()
  const declared =
    /^export (?:interface (\w+)([^{]*)\{\n([\s\S]*?)^\}|type (\w+) =\s*([\s\S]*?)(?=\n(?:\n|\S)))/gm
  for (const source of sources) {
    for (const [, name, bases = '', body = '', alias, type = ''] of source.matchAll(declared)) {
      if (name !== undefined) types.set(name, `${bases.trim()}\n${body}`)
      else if (alias !== undefined) types.set(alias, type)
    }
  }
  return types
}

const MEMBER = /((?:^ {2}\/\*\*(?:(?!\*\/)[\s\S])*\*\/\n)?)^ {2}readonly (\w+)\??: ((?:.*\n)(?: {3,}.*\n)*)/gm

interface Walk {
  readonly types: ReadonlyMap<string, string>
  /** Nested types whose members are listed already. */
  readonly told: Set<string>
}

function* membersOf(walk: Walk, type: string, prefix: string): Generator<Option> {
  const { types, told } = walk
  const [head = '', ...lines] = (types.get(type) ?? '').split('\n')
  const body = lines.join('\n')
  // An alias, or an interface that extends others.
  for (const [base] of head.matchAll(NESTED)) yield* membersOf(walk, base, prefix)
  for (const [, comment = '', member = '', value = ''] of body.matchAll(MEMBER)) {
    const name = prefix + member
    const own = value.replace(/^\(.*=>.*$/gm, '')
    yield { name, default: defaultIn(comment) }
    for (const [, inner] of own.matchAll(/readonly (\w+)\??:/g))
      yield { name: `${name}.${inner}`, default: undefined }
    for (const [nested] of own.matchAll(NESTED)) {
      if (told.has(nested)) continue
      told.add(nested)
      yield* membersOf(walk, nested, `${name}.`)
    }
  }
}

/** A default that is a number, a word or code. The page describes other defaults in its own words. */
function defaultIn(comment: string): string | undefined {
  const text = comment.replace(/\s*\n\s*\*\s*/g, ' ')
  return /\bDefault:? (`[^`]+`|\d+(?:,\d{3})*|(?:off|false|none|nobody)\b)/.exec(text)?.[1]
}

/** The heading of the first table of options, and the most rows of it: nobody reads more. */
const FIRST_TABLE = '## What a deployment sets'
const MAX_FIRST_ROWS = 25

/**
 * The errors of the page of options. The rows of its first table have `option`, and when it is set. All other rows have `option`,
 * default, meaning and who sets it.
 */
export function wrongOptions(page: string, options: readonly Option[]): string[] {
  const [before = '', after = ''] = page.split(`${FIRST_TABLE}\n`)
  const end = after.search(/^## /m)
  const isOption = ([cell]: readonly string[]) => codesIn(cell).length > 0
  const first = rowsOf(end === -1 ? after : after.slice(0, end)).filter(isOption)
  const rows = rowsOf(end === -1 ? before : before + after.slice(end)).filter(isOption)
  const named = new Map(
    rows.flatMap(([cell, value = '']) => codesIn(cell).map(name => [name, value] as const)),
  )
  return [
    ...options.flatMap(({ name, default: told }) => {
      const value = named.get(name)
      if (!value) return [`needs a row of \`${name}\` with its default`]
      if (told === undefined || value.includes(told.replaceAll('`', ''))) return []
      return [`the default of \`${name}\` is ${told}`]
    }),
    ...rows.filter(([, , , who]) => !who).map(([cell]) => `the row of ${cell} does not say who sets it`),
    ...(first.length === 0 ? [`needs a table below \`${FIRST_TABLE}\``] : []),
    ...(first.length > MAX_FIRST_ROWS
      ? [`the first table has ${first.length} rows, which is more than ${MAX_FIRST_ROWS}`]
      : []),
    ...first
      .flatMap(([cell]) => codesIn(cell))
      .filter(name => !named.has(name))
      .map(name => `the first table has \`${name}\`, which has no row below`),
  ].map(wrong => `${OPTIONS_PAGE}: ${wrong}`)
}

/** Rooms that the page of the architecture does not describe, and files of it that do not exist. `sources` are paths. */
export function wrongPlaces(
  page: string,
  sources: readonly string[],
  exists: (path: string) => boolean,
): string[] {
  const rooms = new Set(sources.flatMap(path => /^src\/[^/]+\//.exec(path)?.[0].slice('src/'.length) ?? []))
  const described = new Set(rowsOf(page).flatMap(([cell]) => codesIn(cell)))
  const files = codesIn(page).filter(code => /^[\w.-]+\/[\w./-]+\.ts$/.test(code))
  return [
    ...[...rooms].filter(room => !described.has(room)).map(room => `needs a row of \`${room}\``),
    ...[...new Set(files)]
      .filter(file => !sources.includes(`src/${file}`) && !exists(file))
      .map(file => `there is no \`${file}\``),
  ].map(wrong => `${ARCHITECTURE_PAGE}: ${wrong}`)
}

/** Texts below a folder, by their paths. */
function read(root: string, folder: string, ending: string): Map<string, string> {
  const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  const paths = files
    .filter(file => file.endsWith(ending) && !file.startsWith('.site'))
    .map(file => join(folder, file))
  return new Map(paths.map(path => [path, readFileSync(join(root, path), 'utf8')]))
}

/** The errors of a repository's documentation. */
export function checkDocs(root: string): string[] {
  const pages = read(root, 'docs', '.md')
  for (const path of ['README.md', 'bench/README.md']) pages.set(path, readFileSync(join(root, path), 'utf8'))
  const sources = read(root, 'src', '.ts')
  const source = (path: string) => sources.get(path) ?? ''
  return [
    ...deadLinks(pages, path => existsSync(join(root, path))),
    ...unindexed(pages),
    ...unservedCode(pages),
    ...wrongCodes(
      pages.get(ERRORS_PAGE) ?? '',
      statusesOf(source('src/base/errors.ts'), source('src/web/problem.ts')),
    ),
    ...wrongEvents(pages.get(EVENTS_PAGE) ?? '', eventsOf(source('src/agents/event.ts'))),
    ...wrongOptions(pages.get(OPTIONS_PAGE) ?? '', optionsOf(sources.values())),
    ...wrongPlaces(pages.get(ARCHITECTURE_PAGE) ?? '', [...sources.keys()], path =>
      existsSync(join(root, path)),
    ),
  ]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const wrong = checkDocs(fileURLToPath(new URL('../', import.meta.url)))
  for (const line of wrong) console.error(line)
  process.exitCode = wrong.length === 0 ? 0 : 1
}

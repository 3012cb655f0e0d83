/**
 * What the site has, and how a page of the repository becomes one of it. The order of the pages is that of `docs/README.md`: its
 * headings are the sections, and its rows name the pages.
 */
import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { linksOf, rowsOf } from '../../.ci/docs.ts'
import { homeOf, manifestIn, withAbsoluteLinks } from '../../.ci/pack.ts'

/** The folder of the repository. */
export const ROOT: string = fileURLToPath(new URL('../../', import.meta.url))

const INDEX = 'docs/README.md'
const DECISIONS = 'docs/why/decisions'

/** The Markdown that the site shows, from the root of the repository. */
export const SOURCES: readonly string[] = globSync(
  ['*.md', 'bench/README.md', 'docs/*.md', 'docs/*/**/*.md', 'examples/*/README.md'],
  { cwd: ROOT, exclude: path => path.includes('node_modules') },
).sort()

const { repository } = manifestIn(ROOT)

/** Where the repository is on the web; undefined until its owner has stated it. */
export const HOME: ReturnType<typeof homeOf> | undefined =
  repository === undefined ? undefined : homeOf({ repository })

/** The path of a page on the site: the README is its front page. */
export function placeOf(source: string): string {
  if (source === 'README.md') return 'index.md'
  if (source === INDEX) return 'pages.md'
  const path = source.replace(/^docs\//, '')
  return path.endsWith('/README.md')
    ? `${posix.dirname(path)}.md`
    : path.replace(/^[A-Z]+\.md$/, name => name.toLowerCase())
}

const read = (source: string): string => readFileSync(join(ROOT, source), 'utf8')

/** The first heading, as plain text. */
export function titleOf(page: string): string {
  return (/^# +(.+)$/m.exec(page)?.[1] ?? '').replace(/`/g, '')
}

/** The page of the repository at a path, which may be a folder with a README. */
function sourceAt(path: string): string | undefined {
  const trimmed = path.replace(/\/$/, '')
  return [trimmed, `${trimmed}/README.md`].find(each => SOURCES.includes(each))
}

/**
 * The page with links that lead to the places of the site, or to the repository for what the site has not. `picture` gives the
 * target of a picture of the repository.
 */
function linked(source: string, text: string, picture: (path: string, target: string) => string): string {
  return withAbsoluteLinks({ path: source, text }, HOME, {
    targetOf(path, target) {
      if (/\.(svg|png)$/.test(path)) return picture(path, target)
      const to = sourceAt(path)
      if (to === undefined) return undefined
      const [, rest = ''] = /^[^?#]*(.*)$/.exec(target) ?? []
      return posix.relative(posix.dirname(placeOf(source)), placeOf(to)) + rest
    },
    isFolder: path => !posix.basename(path).includes('.'),
  })
}

/** A picture in a light and a dark version, as one is told on GitHub. */
const PICTURE =
  /<picture>\s*<source[^>]*srcset="([^"]+)"[^>]*>\s*<img alt="([^"]*)" src="([^"]+)">\s*<\/picture>/g

/** A list of blocks of code with names, which are tabs on the site. */
const TABS = /^<!-- tabs -->\n([\s\S]*?)^<!-- \/tabs -->$/gm

/** A name on a line of its own and its block of code. */
const TAB = /^\*\*([^*\n]+)\*\*\n\n```(\w+)\n/gm

/** The page as VitePress takes it. */
export function forSite(source: string, text: string): string {
  const own = source === `${DECISIONS}/README.md` ? `${text}\n${listOfDecisions()}` : text
  return linked(source, own, (path, target) => {
    // A picture of another folder is found from the folder of its page.
    const near = posix.relative(posix.dirname(source), path)
    return target.startsWith('.') ? near : `./${near}`
  })
    .replace(PICTURE, '<img class="dark-only" alt="$2" src="$1">\n<img class="light-only" alt="$2" src="$3">')
    .replace(TABS, (_, body: string) => `::: code-group\n\n${body.replace(TAB, '```$2 [$1]\n')}\n:::`)
}

/** The page as Markdown for programs. Its pictures are told in words. */
export function forMachines(source: string, text: string): string {
  const own = source === `${DECISIONS}/README.md` ? `${text}\n${listOfDecisions()}` : text
  return linked(source, own, (_, target) => target)
    .replace(PICTURE, 'Picture: $2')
    .replace(/^<!-- \/?tabs -->\n\n?/gm, '')
}

/** A page in the list of all pages. */
export interface Listed {
  readonly source: string
  readonly title: string
  /** What the page tells, in the words of the list. */
  readonly tells: string
}

export interface Section {
  readonly title: string
  readonly pages: readonly Listed[]
}

/** The sections of the list of all pages, with the pages of the site that it names, each once. */
export function sections(): Section[] {
  const named = new Set<string>()
  const [, ...parts] = read(INDEX).split(/^## /m)
  return parts.map(part => {
    const pages = rowsOf(part).flatMap(([cell = '', tells = '']) =>
      linksOf(cell).flatMap(target => {
        const source = sourceAt(posix.join('docs', target.replace(/#.*/, '')))
        if (source === undefined || named.has(source)) return []
        named.add(source)
        return [{ source, title: titleOf(read(source)), tells }]
      }),
    )
    return { title: part.slice(0, part.indexOf('\n')).trim(), pages }
  })
}

/** Each decision, by its number. */
export function decisions(): Listed[] {
  return SOURCES.filter(source => /\/\d{4}-[^/]+$/.test(source)).map(source => ({
    source,
    title: titleOf(read(source)),
    tells: '',
  }))
}

function listOfDecisions(): string {
  return decisions()
    .map(({ source, title }) => `- [${title}](${posix.relative(DECISIONS, source)})\n`)
    .join('')
}

/** The files for programs, by their paths on the site: every page as Markdown, a list of them, and all of them in one. */
export function filesForMachines(): Map<string, string> {
  const files = new Map(SOURCES.map(source => [placeOf(source), forMachines(source, read(source))]))
  const parts = [...sections(), { title: 'Decisions', pages: decisions() }]
  const line = ({ source, title, tells }: Listed) => {
    const about = forMachines('README.md', tells).replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    return `- [${title}](/${placeOf(source)})${about === '' ? '' : `: ${about}`}\n`
  }
  const list = parts.map(({ title, pages }) => `## ${title}\n\n${pages.map(line).join('')}`).join('\n')
  const { description } = manifestIn(ROOT) as { readonly description?: string }
  const full = ['README.md', ...parts.flatMap(({ pages }) => pages.map(({ source }) => source))]
    .map(source => `<!-- /${placeOf(source)} -->\n\n${files.get(placeOf(source))}`)
    .join('\n')
  return files
    .set('llms.txt', `# servable\n\n> ${description}\n\n- [servable](/index.md): the first look\n\n${list}`)
    .set('llms-full.txt', full)
}

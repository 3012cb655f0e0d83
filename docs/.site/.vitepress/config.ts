import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { type DefaultTheme, defineConfig, type MarkdownRenderer } from 'vitepress'
import { slugOf } from '../../../.ci/docs.ts'
import {
  decisions,
  filesForMachines,
  forSite,
  HOME,
  type Listed,
  placeOf,
  ROOT,
  SOURCES,
  sections,
} from '../pages.ts'

const link = ({ source }: Listed) => `/${placeOf(source)}`

const items = (pages: readonly Listed[]): DefaultTheme.SidebarItem[] =>
  pages.map(page => ({ text: page.title, link: link(page) }))

const parts = sections().map(({ title, pages }) => ({ text: title, items: items(pages) }))

/** Cells without a text are no headers. */
function plainCorners(markdown: MarkdownRenderer): void {
  markdown.core.ruler.push('corners', ({ tokens }) => {
    tokens.forEach((token, at) => {
      const isEmpty = token.type === 'th_open' && tokens[at + 1]?.content === ''
      if (isEmpty) for (const each of [token, tokens[at + 2]]) if (each) each.tag = 'td'
    })
  })
}

/** What the search says of itself and of its results: a dialog with a list of links, each named by what it shows. */
const SEARCH_ROLES: readonly (readonly [theirs: string, ours: string])[] = [
  ['role="button"', 'role="dialog" aria-modal="true"'],
  [`:aria-owns="results?.length ? 'localsearch-list' : undefined"`, ''],
  ['aria-expanded="true"', ''],
  ['aria-haspopup="listbox"', ''],
  [`:role="results?.length ? 'listbox' : undefined"`, ''],
  [`:aria-labelledby="results?.length ? 'localsearch-label' : undefined"`, ''],
  [`:aria-selected="selectedIndex === index ? 'true' : 'false'"`, ''],
  ['role="option"', ''],
  [`:aria-label="[...p.titles, p.title].join(' > ')"`, ''],
  ['<kbd :aria-label', '<kbd role="img" :aria-label'],
]

function withSearchRoles(component: string): string {
  return SEARCH_ROLES.reduce((text, [theirs, ours]) => {
    if (!text.includes(theirs))
      throw new Error(`VitePress's search has no \`${theirs}\`: look at SEARCH_ROLES`)
    return text.replaceAll(theirs, ours)
  }, component)
}

/** The path of a file from the root of the repository. */
const sourceOf = (file: string) => relative(ROOT, file).replaceAll('\\', '/')

export default defineConfig({
  title: 'servable',
  description: 'AI agents on a network: one function from a Request to a Response',
  lang: 'en',
  srcDir: ROOT,
  srcExclude: [
    '{console,create-servable,src,test}/**',
    'bench/*/**',
    'examples/**/!(README).md',
    'examples/*/*/**',
  ],
  rewrites: Object.fromEntries(SOURCES.map(source => [source, placeOf(source)])),
  // Addresses that a reader's own server answers.
  ignoreDeadLinks: [/^https?:\/\/(localhost|127\.0\.0\.1)/],
  markdown: {
    anchor: { slugify: slugOf },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: plainCorners,
  },
  themeConfig: {
    nav: [{ text: 'All pages', link: '/pages.md' }, ...(HOME ? [{ text: 'Source', link: HOME.url }] : [])],
    // The list of decisions is as long as that of all other pages.
    sidebar: { '/': parts, '/why/decisions': [{ text: 'Decisions', items: items(decisions()) }] },
    outline: [2, 3],
    editLink: HOME && {
      pattern: `${HOME.url}/blob/HEAD/:path`,
      text: 'The source of this page',
    },
    search: {
      provider: 'local',
      options: {
        miniSearch: { searchOptions: { fuzzy: 0.25, prefix: true, boost: { title: 4, titles: 2, text: 1 } } },
        _render: (text, env, markdown) => markdown.render(forSite(sourceOf(env.path), text), env),
      },
    },
  },
  vite: {
    plugins: [
      {
        name: 'pages',
        enforce: 'pre',
        // Pages are outside this folder, which has Vue installed.
        resolveId: (id, _, { ssr }) =>
          ssr && /^vue(\/server-renderer)?$/.test(id) ? { id, external: true } : null,
        configureServer({ middlewares }) {
          middlewares.use(({ url = '' }, response, next) => {
            const file = /^\/llms(-full)?\.txt$/.test(url) && filesForMachines().get(url.slice(1))
            if (file) response.setHeader('content-type', 'text/plain; charset=utf-8').end(file)
            else next()
          })
        },
        transform(text, id) {
          if (id.endsWith('.md')) return forSite(sourceOf(id), text)
          return id.endsWith('/VPLocalSearchBox.vue') ? withSearchRoles(text) : undefined
        },
      },
    ],
    server: { fs: { allow: [ROOT] } },
  },
  buildEnd({ outDir }) {
    for (const [path, text] of filesForMachines()) {
      const file = join(outDir, path)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
    }
  },
})

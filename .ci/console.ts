// Builds the page of the console from `console/` into `src/features/console/built.ts`, which holds its files as text.
//   node .ci/console.ts
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('../', import.meta.url))
const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
}

/** The packages whose code is in the page. Their licences are served beside it. */
const PACKAGES = ['preact', '@preact/signals-core', '@preact/signals', 'marked', 'uplot']

const { outputFiles } = await build({
  absWorkingDir: root,
  entryPoints: ['console/main.tsx', 'console/style.css', 'console/icon.svg'],
  outdir: 'built',
  bundle: true,
  splitting: true,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  loader: { '.svg': 'copy' },
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  legalComments: 'none',
  minify: true,
  write: false,
})

const licences = PACKAGES.map(name => {
  const text = readFileSync(join(root, 'node_modules', name, 'LICENSE'), 'utf8')
  return `${name}\n\n${text.trim()}\n`
}).join('\n---\n\n')

const files = Object.fromEntries([
  ...outputFiles.map(({ path, text }) => [basename(path), { type: TYPES[extname(path)], text }]),
  ['licences.txt', { type: TYPES['.txt'], text: licences }],
])
const named = (start: string, end: string) =>
  Object.keys(files).find(name => name.startsWith(`${start}-`) && name.endsWith(end))

const script = named('main', '.js') ?? ''
/** The files that the script begins with. A browser asks for them while it reads the page. */
const imports = [...(files[script]?.text ?? '').matchAll(/(?:from|import)"\.\/([^"]+)"/g)].map(
  ([, name]) => name,
)

const text = `// Made by .ci/console.ts from console/.
import type { BuiltFile } from './files.ts'

export const BUILT: {
  readonly script: string
  readonly imports: readonly string[]
  readonly style: string
  readonly icon: string
  readonly files: Readonly<Record<string, BuiltFile>>
} = ${JSON.stringify({
  script,
  imports: [...new Set(imports)],
  style: named('style', '.css'),
  icon: named('icon', '.svg'),
  files,
})}
`
const path = join(root, 'src/features/console/built.ts')
// Others may read it meanwhile, so it is whole at any time. One that is the same stays, so that nobody builds it anew.
if (textOf(path) !== text) {
  writeFileSync(`${path}.${process.pid}`, text)
  renameSync(`${path}.${process.pid}`, path)
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

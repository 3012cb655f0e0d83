// Makes the tarball that is published, in this folder:
//   node .ci/pack.ts
// It is what `npm pack` makes, but its pages have links that work on a registry's page. They are changed in an unpacked copy: the
// tree stays as it is, also when this is interrupted. `node .ci/pack.ts refuse` says why `npm publish` must not pack by itself.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { withTargets } from './docs.ts'

/** Of a package file. */
interface Manifest {
  readonly repository?: string | { readonly url?: string; readonly directory?: string }
}

/** Where the folder of the package is in its repository, on the web. */
interface Home {
  readonly url: string
  readonly directory: string
}

/** Throws where the manifest names no repository that has a page. */
export function homeOf({ repository = {} }: Manifest): Home {
  const { url = '', directory = '' } = typeof repository === 'string' ? { url: repository } : repository
  const [, page] = /^(?:git\+)?(https:\/\/[^\s?#]+?)(?:\.git)?\/?$/.exec(url) ?? []
  if (page !== undefined) return { url: page, directory }
  throw new Error(
    'package.json needs `repository`, such as { "type": "git", "url": "git+https://<host>/<owner>/<name>.git" }: without it the ' +
      "links of README.md lead nowhere on a registry's page. Set it, run `npm run tarball`, then publish the tarball",
  )
}

/** The address of a file or folder of the package; of a picture, that of its content. */
function addressOf({ url, directory }: Home, path: string, isFolder: boolean): string {
  const kind = isFolder ? 'tree' : /\.(svg|png|jpe?g|gif|webp)$/.test(path) ? 'raw' : 'blob'
  return `${url}/${kind}/HEAD/${posix.join(directory, path)}`
}

/** A page whose links lead to the repository, but for those within the page and those that `keep` keeps. */
export function withAbsoluteLinks(
  { path, text }: { readonly path: string; readonly text: string },
  home: Home,
  look: { keep(path: string): boolean; isFolder(path: string): boolean },
): string {
  return withTargets(text, target => {
    const [, file = '', rest = ''] = /^([^?#]*)(.*)$/.exec(target) ?? []
    const to = posix.join(posix.dirname(path), file)
    return file === '' || look.keep(to) ? target : addressOf(home, to, look.isFolder(to)) + rest
  })
}

/** Changes the pages of an unpacked package. The README is shown elsewhere; other pages are read where they are. */
function changePages(folder: string, root: string, home: Home): void {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name =>
    name.endsWith('.md'),
  )
  for (const path of files) {
    const text = readFileSync(join(folder, path), 'utf8')
    const changed = withAbsoluteLinks({ path, text }, home, {
      keep: to => path !== 'README.md' && existsSync(join(folder, to)),
      isFolder: to => statSync(join(root, to), { throwIfNoEntry: false })?.isDirectory() === true,
    })
    writeFileSync(join(folder, path), changed)
  }
}

function pack(root: string, manifest: Manifest): void {
  const home = homeOf(manifest)
  const folder = mkdtempSync(join(tmpdir(), 'servable-pack-'))
  const npmPack = (cwd: string, destination: string) =>
    execFileSync('npm', ['pack', '--silent', '--pack-destination', destination], { cwd, encoding: 'utf8' })
  try {
    const tarball = npmPack(root, folder).trim().split('\n').at(-1) ?? ''
    execFileSync('tar', ['-xzf', tarball], { cwd: folder })
    changePages(join(folder, 'package'), root, home)
    process.stdout.write(npmPack(join(folder, 'package'), root))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function refuse(manifest: Manifest): never {
  homeOf(manifest)
  throw new Error(
    'npm publish reads the untrimmed manifest again: run `npm run tarball`, then publish the tarball',
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = dirname(dirname(fileURLToPath(import.meta.url)))
  const manifest: Manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  try {
    if (process.argv[2] === 'refuse') refuse(manifest)
    pack(root, manifest)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}

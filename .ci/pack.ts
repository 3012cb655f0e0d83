// Makes the tarballs of `servable` and `create-servable` in this folder, to publish them or to install them by hand:
//   node .ci/pack.ts
// They are what `npm pack` makes, but for three things, which are changed in an unpacked copy: the tree stays as it is, also when this is
// interrupted. The manifest has nothing of this repository's own tools. Links of pages lead to what is packed, or to the repository.
// Declarations that no entry's types reach are left out.
// `node .ci/pack.ts refuse` says why `npm pack` and `npm publish` must not pack by themselves.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, posix } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { withTargets } from './docs.ts'

/** Of a package file. */
export interface Manifest {
  readonly name: string
  readonly version: string
  readonly repository?:
    | string
    | { readonly type?: string; readonly url?: string; readonly directory?: string }
  readonly homepage?: string
  readonly bugs?: string | object
  readonly exports?: Readonly<Record<string, { readonly types: string; readonly default: string }>>
  readonly bin?: Readonly<Record<string, string>>
}

/** A tarball, as npm tells of it. */
export interface Tarball {
  readonly name: string
  readonly version: string
  /** The path. */
  readonly path: string
  readonly files: number
  readonly packedBytes: number
  readonly unpackedBytes: number
}

/** Where the folder of the package is in its repository, on the web. */
interface Home {
  readonly url: string
  readonly directory: string
}

/** The folders of the packages, with the commands that build them. */
const PACKAGES = [
  { folder: '.', build: ['npm', 'run', '--silent', 'build'] },
  { folder: 'create-servable', build: ['npm', 'run', '--silent', 'build'] },
] as const

/** Fields that only this repository's own tools read. Most importantly, nobody must get the optional Node binary. */
const TOOLCHAIN = ['scripts', 'devDependencies', 'optionalDependencies', 'trustedDependencies', 'knip']

/** Fields that the owner fills in, in the manifest of `servable`. The other package takes them from there. */
export const OWNERS = ['repository', 'homepage', 'bugs'] as const

/** Throws where the manifest names no repository that has a page. */
export function homeOf({ repository = {} }: Pick<Manifest, 'repository'>): Home {
  const { url = '', directory = '' } = typeof repository === 'string' ? { url: repository } : repository
  const [, page] = /^(?:git\+)?(https:\/\/[^\s?#]+?)(?:\.git)?\/?$/.exec(url) ?? []
  if (page !== undefined) return { url: page, directory }
  throw new Error(
    'package.json needs `repository`, such as { "type": "git", "url": "git+https://<host>/<owner>/<name>.git" }: without it the ' +
      'links of pages to what is not packed lead nowhere',
  )
}

/** The address of a file or folder of the package; of a picture, that of its content. */
function addressOf({ url, directory }: Home, path: string, isFolder: boolean): string {
  const kind = isFolder ? 'tree' : /\.(svg|png|jpe?g|gif|webp)$/.test(path) ? 'raw' : 'blob'
  return `${url}/${kind}/HEAD/${posix.join(directory, path)}`
}

/** Stands for an address where there is no repository. */
const NOWHERE = 'nowhere:'

/**
 * A page whose links lead to the repository, but for those within the page and those that `targetOf` gives a target. Without a
 * repository, the text of those links stays, and their pictures go.
 */
export function withAbsoluteLinks(
  { path, text }: { readonly path: string; readonly text: string },
  home: Home | undefined,
  look: { targetOf(path: string, target: string): string | undefined; isFolder(path: string): boolean },
): string {
  const linked = withTargets(text, target => {
    const [, file = '', rest = ''] = /^([^?#]*)(.*)$/.exec(target) ?? []
    const to = posix.join(posix.dirname(path), file)
    if (file === '') return target
    const away = home === undefined ? NOWHERE : addressOf(home, to, look.isFolder(to)) + rest
    return look.targetOf(to, target) ?? away
  })
  return linked
    .replace(/<picture>(?:(?!<\/picture>)[\s\S])*"nowhere:"[\s\S]*?<\/picture>\n*/g, '')
    .replace(/!\[[^\]]*\]\(nowhere:\)/g, '')
    .replace(/\[([^\]]*)\]\(nowhere:\)/g, '$1')
}

/** Changes the pages of an unpacked package. The README is shown elsewhere; other pages are read where they are. */
function changePages(folder: string, source: string, home: Home | undefined): void {
  for (const path of filesOf(folder, '.md')) {
    const text = readFileSync(join(folder, path), 'utf8')
    const changed = withAbsoluteLinks({ path, text }, home, {
      targetOf: (to, target) => {
        const isKept = (path !== 'README.md' || home === undefined) && existsSync(join(folder, to))
        return isKept ? target : undefined
      },
      isFolder: to => statSync(join(source, to), { throwIfNoEntry: false })?.isDirectory() === true,
    })
    writeFileSync(join(folder, path), changed)
  }
}

function filesOf(folder: string, ending: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith(ending))
}

/** Files that these import, and those that they import, with this ending. */
function reached(from: readonly string[], ending: string): Set<string> {
  const found = new Set<string>()
  const open = [...from]
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (found.has(file)) continue
    found.add(file)
    // A declaration names the source that it was made of.
    for (const [, to = ''] of readFileSync(file, 'utf8').matchAll(/['"](\.\.?\/[^'"\n]+)\.[jt]s['"]/g)) {
      const path = join(dirname(file), to + ending)
      if (existsSync(path)) open.push(path)
    }
  }
  return found
}

/** Deletes declarations and modules that nothing of the package reaches. */
function prune(folder: string, { exports = {}, bin = {} }: Manifest): void {
  const entries = Object.values(exports)
  if (entries.length === 0) return
  const at = (paths: readonly string[]) => paths.map(path => join(folder, path))
  const types = reached(at(entries.map(({ types }) => types)), '.d.ts')
  const modules = reached(at([...entries.map(entry => entry.default), ...Object.values(bin)]), '.js')
  for (const [kept, ending] of [[types, '.d.ts'] as const, [modules, '.js'] as const])
    for (const path of at(filesOf(folder, ending))) if (!kept.has(path)) rmSync(path)
}

/** The manifest that is published. */
function published(manifest: Manifest, owner: Manifest, folder: string): object {
  const { repository } = owner
  const own = Object.fromEntries(OWNERS.flatMap(key => (owner[key] === undefined ? [] : [[key, owner[key]]])))
  const inFolder = folder !== '.' &&
    typeof repository === 'object' && {
      repository: { ...repository, directory: posix.join(repository.directory ?? '', folder) },
    }
  const entries = Object.entries(manifest).filter(([key]) => !TOOLCHAIN.includes(key))
  return { ...Object.fromEntries(entries), ...own, ...inFolder }
}

/** What npm tells of a tarball. */
interface Told extends Pick<Tarball, 'name' | 'version'> {
  readonly filename: string
  readonly entryCount: number
  readonly size: number
  readonly unpackedSize: number
}

/** Runs `npm pack` without scripts. */
function npmPack(cwd: string, destination: string): Tarball {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', destination]
  const text = execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  // A list, or an object by the names of the packages.
  const [told] = Object.values<Told>(JSON.parse(text))
  if (told === undefined) throw new Error(`npm has packed nothing in ${cwd}`)
  const { name, version, filename, entryCount: files, size: packedBytes, unpackedSize: unpackedBytes } = told
  return { name, version, path: join(destination, filename), files, packedBytes, unpackedBytes }
}

/** Builds and packs both packages of a repository into its folder. Without a stated repository, links to it are left out. */
export function packAll(root: string): Tarball[] {
  const owner = manifestIn(root)
  const home = owner.repository === undefined ? undefined : homeOf(owner)
  return PACKAGES.map(({ folder, build: [command, ...args] }) => {
    const source = join(root, folder)
    execFileSync(command, args, { cwd: source, stdio: ['ignore', 'ignore', 'inherit'] })
    const temporary = mkdtempSync(join(tmpdir(), 'servable-pack-'))
    try {
      execFileSync('tar', ['-xzf', npmPack(source, temporary).path], { cwd: temporary })
      const copy = join(temporary, 'package')
      const manifest = manifestIn(source)
      prune(copy, manifest)
      writeFileSync(
        join(copy, 'package.json'),
        `${JSON.stringify(published(manifest, owner, folder), null, 2)}\n`,
      )
      changePages(copy, source, home && { ...home, directory: posix.join(home.directory, folder) })
      return npmPack(copy, root)
    } finally {
      rmSync(temporary, { recursive: true, force: true })
    }
  })
}

/** The manifest of a folder. */
export function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = dirname(dirname(fileURLToPath(import.meta.url)))
  try {
    if (process.argv[2] === 'refuse')
      throw new Error(
        'npm packs the whole manifest, and more than users need: run `npm run tarball` or `npm run release`',
      )
    for (const { path, files, packedBytes, unpackedBytes } of packAll(root))
      console.log(`${path}: ${files} files, ${packedBytes} bytes packed, ${unpackedBytes} unpacked`)
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}

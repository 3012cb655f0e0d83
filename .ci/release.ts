// Makes a release of `servable` and `create-servable`, from a clean tree:
//   node .ci/release.ts VERSION [--publish] [--registry URL] [--allow-missing-repository]
// It writes the version wherever it stands, gives the entries of the changelog a heading, makes both tarballs and checks them. Then it
// prints the commands that commit and publish, or publishes. If a check fails, the tree is as it was.
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { deadLinks } from './docs.ts'
import { manifestIn, OWNERS, packAll, type Tarball } from './pack.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Where the version stands. */
export const FILES: string[] = [
  '{.,create-servable,create-servable/templates/_shared,examples/*}/package.json',
  'deno.json',
  'src/http/version.ts',
]

/** Pages that may show it. */
const PAGES = ['README.md', 'docs/{build,connect,look-up,run,start}/*.md']

const CHANGELOG = 'CHANGELOG.md'

/** The most that users shall have to load: a release that is larger needs a decision. */
const LIMITS: Readonly<Record<string, { readonly files: number; readonly packedBytes: number }>> = {
  servable: { files: 1200, packedBytes: 1_600_000 },
  'create-servable': { files: 60, packedBytes: 25_000 },
}

interface Release {
  readonly version: string
  readonly publish: boolean
  readonly registry: string | undefined
  readonly allowMissing: boolean
}

function releaseOf(args: string[]): Release {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      publish: { type: 'boolean', default: false },
      registry: { type: 'string' },
      'allow-missing-repository': { type: 'boolean', default: false },
    },
  })
  const [version = '', ...more] = positionals
  if (!/^\d+\.\d+\.\d+(-[\da-z-]+(\.[\da-z-]+)*)?$/i.test(version) || more.length > 0)
    throw new Error('Say one version, such as: npm run release 0.2.0')
  const { publish, registry } = values
  return { version, publish, registry, allowMissing: values['allow-missing-repository'] }
}

/** Runs a command. Its error has what the command printed. */
function run(command: string, args: readonly string[], cwd = root): string {
  try {
    return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: 'pipe', maxBuffer: 2 ** 26 })
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string }
    throw new Error(`\`${[command, ...args].join(' ')}\` failed:\n${stdout}${stderr}`, { cause: error })
  }
}

const toRegistry = ({ registry }: Release) => (registry === undefined ? [] : ['--registry', registry])

/** Throws unless there is something to release, and the version is new. */
function checkBefore(release: Release, log: string): void {
  const { version, allowMissing } = release
  const changed = run('git', ['status', '--porcelain'])
  if (changed !== '') throw new Error(`Commit or undo these changes first:\n${changed}`)
  if (run('git', ['tag', '--list', `v${version}`]) !== '' || log.includes(`\n## ${version} - `))
    throw new Error(`${version} exists, as a tag of git or in ${CHANGELOG}: say a new version`)
  const missing = OWNERS.filter(key => manifestIn(root)[key] === undefined)
  if (missing.length > 0) {
    const told = `package.json has no ${missing.map(key => `\`${key}\``).join(', ')}`
    if (!allowMissing) throw new Error(`${told}. Fill in what is missing, or say --allow-missing-repository`)
    console.log(`${told}: pages link to nothing that is not packed`)
  }
  for (const name of Object.keys(LIMITS))
    if (isPublished(name, release))
      throw new Error(`${name} ${version} is in the registry: say a new version`)
}

function isPublished(name: string, release: Release): boolean {
  try {
    return run('npm', ['view', `${name}@${release.version}`, 'version', ...toRegistry(release)]).trim() !== ''
  } catch (error) {
    if ((error as Error).message.includes('E404')) return false
    throw error
  }
}

/** The changelog, whose new entries have the heading of the version. Throws if there are none. */
export function withHeading(log: string, version: string, date: string): string {
  const [, head = '', entries = '', rest = ''] =
    /^([\s\S]*?\n## Unreleased\n)([\s\S]*?)((?:\n## [\s\S]*)?)$/.exec(log) ?? []
  if (!/^- /m.test(entries))
    throw new Error(`${CHANGELOG} has no entries below \`## Unreleased\`: nothing is to be released`)
  return `${head}\n## ${version} - ${date}\n${entries}${rest}`
}

/** A text with the new version in place of the old one. */
export function withVersion(text: string, old: string, version: string): string {
  const before = `"version": "|"servable": "\\^?|VERSION = '|servable (?:\\| )?|this is version `
  return text.replaceAll(
    new RegExp(`(?<=${before})${old.replaceAll('.', '\\.')}(?![\\w-]|\\.\\d)`, 'g'),
    version,
  )
}

/** Writes what changes. Returns what undoes that. */
function write(version: string, log: string): () => void {
  const old = manifestIn(root).version
  const texts = new Map<string, string>()
  const change = (file: string, to: (text: string) => string) => {
    const text = readFileSync(join(root, file), 'utf8')
    texts.set(file, text)
    writeFileSync(join(root, file), to(text))
  }
  change(CHANGELOG, () => log)
  for (const file of globSync([...FILES, ...PAGES], { cwd: root }))
    change(file, text => withVersion(text, old, version))
  return () => {
    for (const [file, text] of texts) writeFileSync(join(root, file), text)
  }
}

/** Throws the faults of a tarball. */
function check({ name, path, files, packedBytes }: Tarball): void {
  const limit = LIMITS[name]
  if (limit === undefined || files > limit.files || packedBytes > limit.packedBytes)
    throw new Error(
      `${name} has ${files} files and ${packedBytes} bytes, which is too much: see LIMITS in .ci/release.ts`,
    )
  run('publint', ['--strict', path])
  if (name === 'servable') run('attw', [path, '--profile', 'esm-only'])
  const folder = mkdtempSync(join(tmpdir(), 'servable-release-'))
  try {
    run('tar', ['-xzf', path], folder)
    const at = (file: string) => join(folder, 'package', file)
    const pages = readdirSync(at('.'), { recursive: true, encoding: 'utf8' }).filter(file =>
      file.endsWith('.md'),
    )
    const texts = new Map(pages.map(page => [page, readFileSync(at(page), 'utf8')]))
    const dead = deadLinks(texts, file => existsSync(at(file)))
    if (dead.length > 0) throw new Error(`${name} has links that lead nowhere:\n${dead.join('\n')}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function make(release: Release): Tarball[] {
  const log = readFileSync(join(root, CHANGELOG), 'utf8')
  checkBefore(release, log)
  const undo = write(
    release.version,
    withHeading(log, release.version, new Date().toISOString().slice(0, 10)),
  )
  try {
    const tarballs = packAll(root)
    for (const tarball of tarballs) check(tarball)
    return tarballs
  } catch (error) {
    undo()
    throw error
  }
}

function main(): void {
  const release = releaseOf(process.argv.slice(2))
  const { version } = release
  const tarballs = make(release)
  for (const { path, files, packedBytes, unpackedBytes } of tarballs)
    console.log(`${path}: ${files} files, ${packedBytes} bytes packed, ${unpackedBytes} unpacked, checked`)
  // A version before a release is not what `npm install servable` gets.
  const tag = version.includes('-') ? ['--tag', 'next'] : []
  const commands = tarballs.map(({ path }) => ['publish', path, ...tag, ...toRegistry(release)])
  const lines = [
    `git commit -am "Version ${version}" && git tag v${version}`,
    ...commands.map(args => `npm ${args.join(' ')}`),
  ]
  if (!release.publish) return console.log(`\nNext:\n${lines.map(line => `  ${line}`).join('\n')}`)
  for (const args of commands) {
    run('npm', args)
    console.log(`published: npm ${args.join(' ')}`)
  }
  console.log(`\nNext:\n  ${lines[0]}`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    main()
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}

/** Makes the files of a project. A project is there with all its files, or not at all. */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The templates, with what each is. The first one is the default. */
export const TEMPLATES = {
  minimal: 'an agent with a tool',
  'chat-page': 'a React page with useChat of the AI SDK, on Vite',
  next: 'the same page in Next.js',
  worker: 'a Cloudflare Worker with Durable Objects',
  team: 'a team that asks a person before it pays',
} as const

export type Template = keyof typeof TEMPLATES

/** The package managers, with what runs a script of a project. */
export const PACKAGE_MANAGERS = { npm: 'npm run', pnpm: 'pnpm', yarn: 'yarn', bun: 'bun run' } as const

export type PackageManager = keyof typeof PACKAGE_MANAGERS

export interface Project {
  /** An absolute path. */
  readonly folder: string
  readonly template: Template
  readonly packageManager: PackageManager
  /** The version of servable, as a package file says it. */
  readonly servable: string
}

/** Its message is for the user. */
export class UsageError extends Error {}

const templates = fileURLToPath(new URL('../templates/', import.meta.url))

/** Folders that are laid over each other, the last one on top. */
const layersOf = (template: Template) => [
  '_shared',
  ...(['chat-page', 'next'].includes(template) ? ['_page'] : []),
  template,
]

/** Files of which each layer has a part. */
const MERGED = ['package.json', 'tsconfig.json']

const MAX_NAME = 214

/** The name of the package in a folder. Throws a `UsageError` where that is no name for a package. */
export function nameOf(folder: string): string {
  const name = basename(folder)
  if (!/^[a-z0-9][a-z0-9._-]*$/.test(name) || name.length > MAX_NAME || name === 'node_modules')
    throw new UsageError(
      `\`${name}\` is no name for a package: use small letters, digits, \`-\`, \`_\` and \`.\`, and begin with a letter or a digit`,
    )
  return name
}

/** Throws a `UsageError` where no project can be. Returns whether the folder is there, with nothing in it but a repository of git. */
export function checkFolder(folder: string): boolean {
  nameOf(folder)
  try {
    const first = readdirSync(folder).find(name => name !== '.git')
    if (first === undefined) return true
    throw new UsageError(`\`${folder}\` is not empty, it has \`${first}\`: name a new folder`)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return false
    if (code === 'ENOTDIR') throw new UsageError(`\`${folder}\` is a file, or below one: name a new folder`)
    throw error
  }
}

/** Writes a project into its folder, which must be absent or have nothing but a repository of git. Throws a `UsageError`. */
export function writeProject(project: Project): void {
  const { folder } = project
  const isThere = checkFolder(folder)
  // Beside a folder that is to be, and in one that is there: that may be on another disk than what is around it.
  const made = join(isThere ? folder : dirname(folder), `.${basename(folder)}-${process.pid}`)
  try {
    fill(made, project)
    if (!isThere) renameSync(made, folder)
    else for (const name of readdirSync(made)) renameSync(join(made, name), join(folder, name))
  } finally {
    rmSync(made, { recursive: true, force: true })
  }
}

function fill(folder: string, { template, packageManager, servable, ...project }: Project): void {
  const layers = layersOf(template).map(name => join(templates, name))
  for (const layer of layers) copy(layer, folder)
  // The registry of npm drops files of this name.
  renameSync(join(folder, '_gitignore'), join(folder, '.gitignore'))
  const [manifest, config] = MERGED.map(file => layers.map(layer => partOf(layer, file)).reduce(merged))
  const name = nameOf(project.folder)
  const packages = Object.values(Object(manifest))
  if (packages.some(part => isObject(part) && Object.hasOwn(part, name)))
    throw new UsageError(`\`${name}\` is a package that the project needs: choose another name`)
  writeJson(join(folder, 'tsconfig.json'), config)
  writeJson(join(folder, 'package.json'), merged(manifest, { name, dependencies: { servable } }))
  for (const file of ['README.md', 'wrangler.toml']) {
    const path = join(folder, file)
    if (!existsSync(path)) continue
    const text = readFileSync(path, 'utf8').replaceAll('my-agents', name)
    writeFileSync(path, text.replaceAll('npm run', PACKAGE_MANAGERS[packageManager]))
  }
  for (const [file, text] of settingsOf(template, packageManager)) writeFileSync(join(folder, file), text)
}

/** Files with settings that a package manager needs. */
function settingsOf(
  template: Template,
  packageManager: PackageManager,
): (readonly [file: string, text: string])[] {
  // Without a folder `node_modules`, TypeScript and bundlers find no types.
  if (packageManager === 'yarn') return [['.yarnrc.yml', 'nodeLinker: node-modules\n']]
  // Pnpm installs nothing if it may not run these.
  const allowed = 'allowBuilds:\n  esbuild: true\n  workerd: true\n'
  return packageManager === 'pnpm' && template === 'worker' ? [['pnpm-workspace.yaml', allowed]] : []
}

/** Copies what is in a folder. Yarn runs this out of an archive, which `cpSync` of Node cannot read. */
function copy(from: string, to: string): void {
  mkdirSync(to, { recursive: true })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)]
    if (entry.isDirectory()) copy(source, target)
    else writeFileSync(target, readFileSync(source))
  }
}

function partOf(layer: string, file: string): unknown {
  const path = join(layer, file)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** One value over another. The fields of both objects stay, lists are replaced. */
function merged(below: unknown, above: unknown): unknown {
  if (!isObject(below) || !isObject(above)) return above
  const fields = Object.entries(above).map(([key, value]) => [
    key,
    key in below ? merged(below[key], value) : value,
  ])
  return { ...below, ...Object.fromEntries(fields) }
}

function writeJson(path: string, value: unknown): void {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`)
}

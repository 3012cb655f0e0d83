/** Packs the library. */
import { execFile } from 'node:child_process'
import { cp, readFile, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { once } from '../once.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** What the tarball is made of. */
const SOURCES = [
  ...['package.json', 'tsconfig.json', 'LICENSE', 'README.md', 'CHANGELOG.md', 'SECURITY.md'],
  ...['.ci', 'console', 'create-servable', 'deploy', 'docs', 'src'],
]

export interface Packed {
  /** The copy of the repository that was packed. */
  readonly folder: string
  readonly tarball: string
  /** That of `create-servable`. */
  readonly creator: string
}

/** Copies the repository, as far as it is packed, into a folder. Gives what `npm run tarball` will make there. */
export async function copyInto(folder: string): Promise<Packed> {
  for (const name of SOURCES) await cp(join(root, name), join(folder, name), { recursive: true })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  return packedIn(folder)
}

/** Runs `npm run tarball` in a copy. Once for all tests, which leave it as it is. */
export async function pack(): Promise<Packed> {
  const folder = await once('packed', async folder => {
    await copyInto(folder)
    await promisify(execFile)('npm', ['run', '--silent', 'tarball'], { cwd: folder })
  })
  return packedIn(folder)
}

async function packedIn(folder: string): Promise<Packed> {
  const { name, version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const tarballOf = (name: string) => join(folder, `${name}-${version}.tgz`)
  return { folder, tarball: tarballOf(name), creator: tarballOf('create-servable') }
}

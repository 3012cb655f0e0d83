/** Packs the library. */
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../', import.meta.url))

/** What the tarball is made of. */
const SOURCES = [
  ...[
    'package.json',
    'tsconfig.json',
    'LICENSE',
    'README.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
  ],
  ...['.ci', 'bench/README.md', 'console', 'docs', 'src'],
]

export interface Packed {
  /** The copy of the repository that was packed. */
  readonly folder: string
  readonly tarball: string
  remove(): Promise<void>
}

/** Runs `npm pack` in a copy, so that no other program sees the trimmed manifest. */
export async function pack(): Promise<Packed> {
  const folder = await mkdtemp(join(tmpdir(), 'servable-pack-'))
  for (const name of SOURCES) await cp(join(root, name), join(folder, name), { recursive: true })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  await promisify(execFile)('npm', ['pack', '--silent'], { cwd: folder })
  const { name, version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  return {
    folder,
    tarball: join(folder, `${name}-${version}.tgz`),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

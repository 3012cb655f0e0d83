/** Plays a page as its reader does: writes its files, starts its servers, and types its commands. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../eventually.ts'
import { once } from '../once.ts'
import { freePort } from '../runtimes/harness.ts'
import { COMPILED, root, type Started, start } from '../runtimes/process.ts'
import { merged } from './merged.ts'

const run = promisify(execFile)

/** A heading with what stands below it. */
interface Section {
  readonly heading: string
  readonly blocks: readonly Block[]
}

/** A block of code, with the prose before it. */
interface Block {
  readonly prose: string
  readonly language: string
  readonly code: string
}

/** The sections of a tutorial that have code. */
function sectionsOf(page: string): Section[] {
  const text = readFileSync(join(root, 'docs', page), 'utf8')
  const sections = text.split(/^## /m).map(section => {
    const [heading = ''] = section.split('\n')
    const blocks = [...section.matchAll(/([\s\S]*?)^```(\w+)\n([\s\S]*?)^```$/gm)]
    return {
      heading,
      blocks: blocks.map(([, prose = '', language = '', code = '']) => ({ prose, language, code })),
    }
  })
  return sections.filter(({ blocks }) => blocks.length > 0)
}

/** Commands that serve until they are stopped, and what they say once they do. */
const SERVERS: readonly (readonly [command: RegExp, ready: RegExp])[] = [
  [/^npx servable dev\b/, /Ctrl-C\n/],
  [/^(\w+=\S+ )*npx servable start\b/, /http:\/\/127/],
  [/^node (--env-file=\S+ )?\w+\.ts$/, /listening \S+/],
]

/** What a command says once it serves. Undefined for one that ends. */
const readyOf = (command: string) => SERVERS.find(([server]) => server.test(command))?.[1]

/** The ports of the pages. Each tutorial has free ones in their place. */
const PORTS = ['3000', '3001', '3002', '4000'] as const

/** One reader, in a folder of their own. */
class Reader {
  readonly folder: string
  readonly #ports: ReadonlyMap<string, string>
  readonly #servers = new Map<string, Started>()
  /** The files as the page has them, by their paths. */
  readonly #files = new Map<string, string>()
  readonly #installed = new Set<string>()
  readonly #options: TutorialOptions
  /** What the reader has put into variables. */
  readonly variables: Record<string, string> = {}
  /** What the last command printed. */
  said = ''
  /** Whether a file was written since the servers began. */
  #hasNews = false
  /** How many files were written, and how many of them were checked. */
  #written = 0
  #checked = 0
  /** The last command, if it only reads: a reader types it again until what goes on in the background is there. */
  #look: string | undefined

  private constructor(folder: string, ports: ReadonlyMap<string, string>, options: TutorialOptions) {
    this.folder = folder
    this.#options = options
    this.#ports = ports
  }

  /** Begins in a new folder, whose `servable` is that of the sources. */
  static async begin(options: TutorialOptions): Promise<Reader> {
    await mkdir(join(root, 'test/.tmp'), { recursive: true })
    const folder = await mkdtemp(join(root, 'test/.tmp/tutorial-'))
    const installed = join(folder, 'node_modules/servable')
    await mkdir(installed, { recursive: true })
    await symlink(join(root, 'src'), join(installed, 'src'))
    const { exports: entries } = JSON.parse(await readFile(join(root, 'deno.json'), 'utf8'))
    const manifest = { name: 'servable', type: 'module', exports: entries }
    await writeFile(join(installed, 'package.json'), JSON.stringify(manifest))
    const bin = join(folder, 'node_modules/.bin')
    await mkdir(bin)
    await writeFile(
      join(bin, 'servable'),
      `#!/bin/sh\nexec ${process.execPath} ${join(root, 'src/command/cli.ts')} "$@"\n`,
    )
    await chmod(join(bin, 'servable'), 0o755)
    await writeFile(join(bin, '.curlrc'), 'silent\n')
    const ports = new Map<string, string>()
    for (const port of PORTS) ports.set(port, String(await freePort()))
    const reader = new Reader(folder, ports, options)
    Object.assign(reader.variables, await options.prepare?.())
    return reader
  }

  /** Takes the packages of another folder in place of those of the repository. */
  async link(folder: string): Promise<void> {
    for (const name of await readdir(join(folder, 'node_modules')))
      if (!name.startsWith('.'))
        await symlink(join(folder, 'node_modules', name), join(this.folder, 'node_modules', name))
  }

  /** The address of a port that the page names. */
  url(port: (typeof PORTS)[number] = '3000'): string {
    return `http://127.0.0.1:${this.#ports.get(port)}`
  }

  /** Does what a section says, and checks that one sees what it shows. */
  async follow({ blocks }: Section): Promise<void> {
    for (const { prose, language, code } of blocks) {
      this.#note(prose)
      if (language === 'sh') await this.#type(code.trim())
      else if (language === 'text') await this.#sees(code)
      else await this.#write(code)
    }
  }

  /** Checks the types of all that was written so far, unless nothing is new. */
  async check(): Promise<void> {
    const isChecked = this.#checked === this.#written
    this.#checked = this.#written
    if (isChecked) return
    const compilerOptions = {
      ...{ types: ['node'], jsx: 'react-jsx', lib: ['es2024', 'dom', 'dom.iterable', 'webworker'] },
      ...{ noEmit: true, allowImportingTsExtensions: true, isolatedDeclarations: false, declaration: false },
      ...{ exactOptionalPropertyTypes: false, rootDir: '/' },
    }
    const config = {
      extends: join(root, 'tsconfig.json'),
      compilerOptions,
      include: ['../**/*.ts', '../**/*.tsx'],
      exclude: ['.'],
    }
    // Where nobody looks for changes.
    await writeFile(join(this.folder, 'node_modules/tsconfig.json'), JSON.stringify(config))
    await this.#run('tsc -p node_modules --singleThreaded')
  }

  /** Expects that the folder of `examples` has the files of the page, no other code, and the packages that were installed. */
  async equals(example: string): Promise<void> {
    const there = join(root, 'examples', example)
    for (const [path, text] of this.#files) expect(await readFile(join(there, path), 'utf8'), path).toBe(text)
    const all = await readdir(there, { recursive: true })
    const code = all.filter(path => /\.tsx?$/.test(path) && !path.includes('node_modules'))
    expect(code.filter(path => !this.#files.has(path))).toEqual([])
    const { dependencies } = JSON.parse(await readFile(join(there, 'package.json'), 'utf8'))
    expect(Object.keys(dependencies).toSorted()).toEqual([...this.#installed].toSorted())
  }

  /** Makes that folder anew, for whoever has changed the page. */
  async copyTo(example: string): Promise<void> {
    for (const [path, text] of this.#files) {
      const to = join(root, 'examples', example, path)
      await mkdir(dirname(to), { recursive: true })
      await writeFile(to, text)
    }
  }

  async stop(): Promise<void> {
    for (const server of this.#servers.values()) await server.stop()
    await rm(this.folder, { recursive: true, force: true })
  }

  /** Puts `field` of the last output where the prose says so: "the `field` of the answer in `NAME`". */
  #note(prose: string): void {
    for (const [, field = '', name = ''] of prose.matchAll(/`(\w+)`[^.`]* in(?:to)? `([A-Z_]+)`/g)) {
      const [, value] = new RegExp(`(?:"${field}":"|\\b${field} (?=\\d))([\\w-]+)`).exec(this.said) ?? []
      if (value === undefined) throw new Error(`no ${field} in: ${this.said}`)
      this.variables[name] = value
    }
  }

  async #type(code: string): Promise<void> {
    await this.#options.before?.(code, this.folder)
    for (const [, names = ''] of code.matchAll(/^npm install (.+)$/gm))
      for (const name of names.split(' ')) this.#installed.add(name)
    const lines = code.split('\n')
    const last = lines.at(-1) ?? ''
    if (readyOf(last) !== undefined) {
      for (const line of lines) {
        const ready = readyOf(line)
        if (ready === undefined) await this.#run(line)
        else {
          await this.#takeNews(line)
          await this.#serve(line, ready)
        }
      }
      return
    }
    await this.#takeNews()
    this.#look = /^curl (?!.*--json|.*-X)/.test(last) ? last : undefined
    this.said = await this.#run(code.replaceAll(/^npm install .+$/gm, 'true'))
  }

  /** Starts a server. One that was started by the same command is stopped first. */
  async #serve(code: string, until: RegExp): Promise<void> {
    await this.#servers.get(code)?.stop()
    const server = await start({
      command: 'sh',
      args: ['-c', `exec env ${this.#moved(code).replace('npx ', '')}`],
      cwd: this.folder,
      env: this.#environment(),
      // What cannot be loaded does not serve either.
      until: new RegExp(`${until.source}|servable: .*`),
    })
    if (server.ready[0].startsWith('servable: ')) throw new Error(server.log())
    this.#servers.set(code, server)
    this.said = server.log()
  }

  /** Starts the servers again after files have changed, but for one. `servable dev` takes changes by itself, and so is sure to have them. */
  async #takeNews(but?: string): Promise<void> {
    const isNew = this.#hasNews
    this.#hasNews = false
    for (const command of isNew ? [...this.#servers.keys()] : [])
      if (command !== but) await this.#serve(command, readyOf(command) ?? /$/)
  }

  /** What is shown stands in what was printed; `…` is anything. White space does not count. */
  async #sees(shown: string): Promise<void> {
    const bare = (text: string) => text.replaceAll(/\s+/g, '')
    const pattern = bare(shown)
      .split('…')
      .map(part => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('[\\s\\S]*?')
    const all = () =>
      [this.said, ...[...this.#servers.values()].map(server => server.log())].map(bare).join('\n')
    const isThere = async () => {
      if (new RegExp(pattern).test(this.#shown(all()))) return
      if (this.#look !== undefined) this.said += await this.#run(this.#look)
      expect(this.#shown(all())).toMatch(new RegExp(pattern))
    }
    await eventually(isThere)
  }

  /** Writes a file, whose name is in the first line. A second line `// …` says that the rest stays. */
  async #write(code: string): Promise<void> {
    const [, name, rest = ''] = /^(?:\/\/|#|<!--) ([\w./-]+\.\w+)(?: -->)?\n([\s\S]*)$/.exec(code) ?? []
    if (name === undefined) throw new Error(`a file needs a name: ${code}`)
    const isPart = rest.startsWith('// …\n')
    const text = isPart ? merged(this.#files.get(name) ?? '', rest.slice('// …\n'.length)) : rest
    this.#files.set(name, `${text.trim()}\n`)
    const path = join(this.folder, name)
    await mkdir(dirname(path), { recursive: true })
    const moved = this.#moved(`${text.trim()}\n`)
    await writeFile(path, this.#options.change?.(moved) ?? moved)
    this.#hasNews = true
    this.#written++
  }

  /** With the ports of this reader in place of those of the page. */
  #moved(text: string): string {
    return text.replaceAll(
      /(127\.0\.0\.1:|\bport:? |PORT=)(3000|3001|3002|4000)\b/g,
      (_, before, port) => before + this.#ports.get(port),
    )
  }

  /** With the ports of the page in place of those of this reader. */
  #shown(text: string): string {
    return [...this.#ports].reduce((shown, [port, own]) => shown.replaceAll(`:${own}`, `:${port}`), text)
  }

  #environment(): Record<string, string> {
    const bin = join(this.folder, 'node_modules/.bin')
    const path = [bin, join(root, 'node_modules/.bin'), process.env.PATH].join(':')
    const port = this.#ports.get('3000') ?? ''
    return {
      PATH: path,
      PORT: port,
      CURL_HOME: bin,
      NO_COLOR: '1',
      NODE_COMPILE_CACHE: COMPILED,
      ...this.variables,
    }
  }

  /** Types a command, and gives what it printed. */
  async #run(code: string): Promise<string> {
    const env = { ...this.#environment(), HOME: this.folder }
    const { stdout, stderr } = await run('sh', ['-c', this.#moved(code)], { cwd: this.folder, env }).catch(
      error => {
        // Curl has left after the time that the page gives it.
        if (error.code === 28) return error
        throw new Error(`${code}\n${error.stdout}${error.stderr}`)
      },
    )
    return stdout + stderr
  }
}

/** The packages of an example that the repository does not have, installed once for all tests. */
async function install(example: string, folder: string): Promise<void> {
  const { dependencies, devDependencies } = JSON.parse(
    await readFile(join(root, 'examples', example, 'package.json'), 'utf8'),
  )
  const { servable: _, ...packages } = { ...dependencies, ...devDependencies }
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, dependencies: packages }))
  await run(join(root, 'node_modules/.bin/bun'), ['install', '--no-save'], { cwd: folder })
}

interface TutorialOptions {
  /** The folder of `examples` that has the finished application. */
  readonly example?: string
  /** Whether it needs packages that the repository does not have. */
  readonly installs?: boolean
  /** More tests of what was built, in the end. */
  readonly more?: (reader: () => Reader) => void
  /** Changes files as they are written, such as waits that are made for people. */
  readonly change?: (text: string) => string
  /** Called before each command. */
  readonly before?: (command: string, folder: string) => Promise<void>
  /** Gives variables that the commands of the page read. */
  readonly prepare?: () => Promise<Readonly<Record<string, string>>>
}

/**
 * Tests a page of `docs` step by step, and that its last step is the folder of `examples`. A step that fails fails the others too. With
 * `UPDATE_EXAMPLES` in the environment, the folder is made of the page.
 */
export function tutorial(page: string, options: TutorialOptions = {}): void {
  const { example = '' } = options
  describe(`docs/${page}`, () => {
    let reader: Reader
    let failed: unknown
    beforeAll(async () => {
      reader = await Reader.begin(options)
      if (options.installs) await reader.link(await once(example, folder => install(example, folder)))
    })
    afterAll(() => reader?.stop())

    it.each(sectionsOf(page))('$heading', async section => {
      if (failed !== undefined) throw failed
      try {
        await reader.follow(section)
        await reader.check()
      } catch (error) {
        failed = new Error('a step before this one has failed')
        throw error
      }
    })

    options.more?.(() => reader)

    if (example === '') return
    it('ends with the folder of the examples', async () => {
      if (process.env.UPDATE_EXAMPLES) await reader.copyTo(example)
      await reader.equals(example)
    })
  })
}

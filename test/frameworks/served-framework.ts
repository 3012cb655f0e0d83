/** Installs a framework in a folder of its own, and serves its agents in a separate process. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { promisify } from 'node:util'
import { fences } from '../pages/pages.ts'
import { root, type Started, start } from '../runtimes/process.ts'
import { type ModelServer, startModel } from './model-server.ts'

export interface ServedFramework {
  readonly url: string
  readonly model: ModelServer
  /** The folder that outlives the process. */
  readonly state: string
  /** The output of the process so far. */
  log(): string
  /** Ends the process and starts another one, with the same model and folder. */
  restart(): Promise<void>
  /** The same, but the process is killed. */
  restartKilled(): Promise<void>
  stop(): Promise<void>
}

/** A folder with one framework. */
export interface Installed {
  readonly folder: string
  /** Serves a module of the folder. Default: the agents of the framework's own folder. */
  serve(module?: string): Promise<ServedFramework>
  /** Checks the types of everything in the folder. Rejects with the compiler's errors. */
  check(): Promise<void>
  remove(): Promise<void>
}

/** Frameworks must not connect to the internet. */
const QUIET = {
  AI_SDK_LOG_WARNINGS: 'false',
  LANGSMITH_TRACING: 'false',
  MASTRA_TELEMETRY_DISABLED: '1',
  OPENAI_AGENTS_DISABLE_TRACING: '1',
  VOLTAGENT_TELEMETRY_DISABLED: '1',
}

/** The snippet of a page of `docs`, `framework-….ts`. */
export const SHOWN = 'examples/shown.ts'

/** A snippet that imports the sources, and asks the model server and the service of the test. */
function runnable(snippet: string): string {
  return snippet
    .replaceAll("'servable'", "'../src/index.ts'")
    .replaceAll("'servable/adapters'", "'../src/adapters/frameworks/index.ts'")
    .replaceAll("'http://127.0.0.1:4000/v1'", "globalThis.process.env.OPENAI_BASE_URL ?? ''")
    .replaceAll("'http://127.0.0.1:3000/api/agents/helper/ag-ui'", "globalThis.process.env.HELPER_URL ?? ''")
}

/** Copies the tests and the `examples` of a framework into a new folder, and installs its packages there. */
export async function install(framework: string, examples: readonly string[]): Promise<Installed> {
  // The folder is below the library's own packages, which the sources need. The framework's packages are found first.
  const parent = join(root, 'test/.tmp')
  await mkdir(parent, { recursive: true })
  const folder = await mkdtemp(join(parent, `${framework}-`))
  const tests = join(folder, 'test/frameworks')
  await mkdir(join(folder, 'examples'))
  await symlink(join(root, 'src'), join(folder, 'src'))
  await cp(join(root, 'test/frameworks', framework), join(tests, framework), { recursive: true })
  // The older AI SDK has the agents of the newer one.
  if (framework === 'ai-sdk-6')
    await cp(join(root, 'test/frameworks/ai-sdk/agents.ts'), join(tests, framework, 'agents.ts'))
  await cp(join(root, 'test/frameworks', framework, 'package.json'), join(folder, 'package.json'))
  await cp(join(root, 'test/frameworks/tsconfig.json'), join(folder, 'tsconfig.json'))
  for (const name of ['serve.ts', 'steered.ts', 'weather.ts'])
    await cp(join(root, 'test/frameworks', name), join(tests, name))
  const shown = fences.find(({ text }) => text.startsWith(`// framework-${framework}.ts\n`))
  if (shown !== undefined) await writeFile(join(folder, SHOWN), runnable(shown.text))
  for (const name of examples) await cp(join(root, 'examples', name), join(folder, 'examples', name))
  const lock = join(root, 'test/frameworks', framework, 'bun.lock')
  if (existsSync(lock)) await cp(lock, join(folder, 'bun.lock'))
  await run(folder, 'bun', 'install', existsSync(lock) ? '--frozen-lockfile' : '--no-save')
  return {
    folder,
    serve: (module = `test/frameworks/${framework}/agents.ts`) => serve(folder, join(folder, module)),
    check: () => run(folder, 'tsc', '-p', 'tsconfig.json', '--singleThreaded'),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

async function serve(folder: string, module: string): Promise<ServedFramework> {
  const model = await startModel()
  const state = await mkdtemp(join(folder, 'state-'))
  const begin = (): Promise<Started> =>
    start({
      command: process.execPath,
      args: [join(folder, 'test/frameworks/serve.ts'), module],
      until: /listening (http:\S+)/,
      env: {
        ...QUIET,
        MODEL_URL: model.url,
        OPENAI_BASE_URL: model.url,
        OPENAI_API_KEY: 'of the environment',
        STATE_FOLDER: state,
      },
      cwd: folder,
      startMs: 60_000,
    })
  let started = await begin()
  return {
    get url() {
      return started.ready[1] ?? ''
    },
    model,
    state,
    log: () => started.log(),
    async restart() {
      await started.stop()
      started = await begin()
    },
    async restartKilled() {
      await started.kill()
      started = await begin()
    },
    async stop() {
      await started.stop()
      await model.stop()
    },
  }
}

/** Runs one of the library's tools. Its error contains the output. */
async function run(folder: string, tool: string, ...args: string[]): Promise<void> {
  const command = join(root, 'node_modules/.bin', tool)
  await promisify(execFile)(command, args, { cwd: folder }).catch(error => {
    throw new Error(`${tool}: ${error.stdout}${error.stderr}`)
  })
}

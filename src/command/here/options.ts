/**
 * The options of a handler for the agents of a folder: every part that needs no setting, and what `servable.config.ts` changes.
 *
 * @module
 */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import type { State } from '../../core/options.ts'
import { approvals } from '../../features/approvals/plugin.ts'
import { webConsole } from '../../features/console/plugin.ts'
import { files } from '../../features/files/plugin.ts'
import { auditLog, runLog } from '../../features/logs/index.ts'
import { MetricsExporter } from '../../features/metrics/exporter.ts'
import { queue } from '../../features/queue/plugin.ts'
import { sessions } from '../../features/sessions/plugin.ts'
import { pausing } from '../../features/small/pausing.ts'
import { webhooks } from '../../features/webhooks/plugin.ts'
import { toJsonSchema } from '../../http/json-schema.ts'
import type { HandlerOptions } from '../../options.ts'
import { agUi } from '../../protocols/ag-ui/plugin.ts'
import { aiSdkUi } from '../../protocols/ai-sdk-ui/plugin.ts'
import { anthropic } from '../../protocols/anthropic/plugin.ts'
import { langGraph } from '../../protocols/langgraph-api/plugin.ts'
import { mcp, mcpPrompts, mcpResources, ownConversations } from '../../protocols/mcp/plugin.ts'
import { openai } from '../../protocols/openai/plugin.ts'
import { sqliteState } from '../../runtimes/sqlite.ts'
import { swaggerUi } from '../../runtimes/swagger-ui.ts'
import { type LoadedAgents, loadAgents, loadConfig } from '../load.ts'
import { UsageError } from '../service.ts'

/** What a command serves, and how. */
export interface HereOptions {
  readonly path: string | undefined
  readonly cwd: string
  readonly production: boolean
  readonly console: boolean
}

/** The options, and what they were made of. */
export interface Here extends LoadedAgents {
  readonly options: HandlerOptions
  /** The file that keeps the state, from the folder on: `.servable/state.db`. Undefined if it is elsewhere. */
  readonly stateFile: string | undefined
}

/** Where webhooks may go in development. */
const OWN_MACHINE = ['localhost', '127.0.0.1']

/** Loads a folder, and makes the options of its handler. Throws {@link UsageError} if there is nothing to serve. */
export async function optionsHere(here: HereOptions): Promise<Here> {
  const config = await loadConfig(here.cwd)
  const loaded = await loadAgents(here.path, here.cwd)
  const { agents = {}, teams = {}, workflows = {}, serve = [] } = config
  if ([loaded.agents, serve, agents, teams, workflows].every(each => Object.keys(each).length === 0))
    throw new UsageError(
      loaded.files.length === 0
        ? 'There is no agents.ts here. Name a file with agents, or begin with: npm create servable'
        : `${loaded.files.join(', ')} exports no agent. Export one: \`export const echo = new Agent({ name: 'echo', run: input => input })\``,
    )
  const { plugins = [], ...parts } = partsOf(here)
  const given = config.plugins ?? plugins
  const { state, stateFile } = config.state ? { state: config.state } : await stateIn(here)
  const options: HandlerOptions = {
    state,
    ...parts,
    ...config,
    serve: [...new Set([...serve, ...loaded.agents])],
    plugins:
      here.console && !given.some(({ name }) => name === 'console') ? [consoleFor(here), ...given] : given,
  }
  return { options, stateFile, ...loaded }
}

/** In production the console is for whomever the middleware knows. */
function consoleFor({ production }: HereOptions) {
  return webConsole(production ? { authenticate: (_, identity) => identity } : {})
}

/** Every part that needs no setting. */
function partsOf({ production }: HereOptions): HandlerOptions {
  return {
    production,
    // Inputs, prompts and journals are kept for development alone.
    runs: {
      measure: true,
      keepInput: !production,
      keepModelCalls: !production,
      keepJournal: !production,
    },
    a2a: true,
    gateway: { recovery: true },
    metricsExporter: new MetricsExporter({ history: true }),
    fileUpload: true,
    swagger: { enabled: true, ...docsPage() },
    plugins: [
      files(),
      sessions(),
      approvals(),
      queue(),
      pausing(),
      webhooks({ clients: true, ...(!production && { allow: OWN_MACHINE }) }),
      runLog(),
      ...(production ? [auditLog()] : []),
      aiSdkUi({ resume: true }),
      agUi(),
      openai(),
      anthropic(),
      langGraph(),
      mcp({
        ...{ tools: true, toJsonSchema },
        resources: mcpResources(ownConversations()),
        prompts: mcpPrompts(),
      }),
    ],
  }
}

/** The page of the documentation, if its package is installed. */
function docsPage() {
  try {
    return { assets: swaggerUi() }
  } catch {
    return {}
  }
}

/** PostgreSQL if production names one in `DATABASE_URL`, else a SQLite file in the folder `.servable`. */
async function stateIn({ cwd, production }: HereOptions): Promise<{ state: State; stateFile?: string }> {
  const url = process.env.DATABASE_URL
  if (production && url) {
    const { postgresState } = await import('../../runtimes/postgres.ts').catch((cause: unknown) => {
      throw new UsageError('DATABASE_URL needs the package `postgres`: run `npm install postgres`', { cause })
    })
    return { state: postgresState({ url }) }
  }
  const folder = join(cwd, '.servable')
  try {
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, '.gitignore'), '*\n')
  } catch (error) {
    throw new UsageError(
      `The state cannot be kept in ${folder}: ${(error as Error).message}. Allow this user to write there, or set \`state\` in servable.config.ts`,
    )
  }
  const file = 'state.db'
  return { state: sqliteState({ path: join(folder, file) }), stateFile: join('.servable', file) }
}

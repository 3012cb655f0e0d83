import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { query } from '@anthropic-ai/claude-agent-sdk'
import { toAgent } from '../../../src/adapters/frameworks/index.ts'

const folder = process.env.STATE_FOLDER ?? ''

const options = {
  env: {
    PATH: process.env.PATH,
    HOME: folder,
    CLAUDE_CONFIG_DIR: join(folder, 'claude'),
    ANTHROPIC_BASE_URL: process.env.CLAUDE_URL,
    ANTHROPIC_API_KEY: 'k',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  },
  cwd: folder,
  model: 'claude-x',
  settingSources: [],
  /** As the SDK does it, but the test gets the id of the process. */
  spawnClaudeCodeProcess({
    command,
    args,
    signal: _,
    ...rest
  }: {
    command: string
    args: string[]
    signal: unknown
  }) {
    const child = spawn(command, args, { ...rest, stdio: ['pipe', 'pipe', 'ignore'] })
    writeFileSync(join(folder, 'pid'), String(child.pid))
    return child
  },
}

export const agents = [toAgent({ name: 'coder', query, options })]
